import type { ReactNode } from 'react';
import styles from './viewer.module.css';

/** Room around a state (loading, empty, error) on a page whose content runs to the edges. */
export function Notice({ children }: { children: ReactNode }) {
  return <div className={styles.notice}>{children}</div>;
}
