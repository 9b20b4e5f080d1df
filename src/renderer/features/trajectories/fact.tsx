import type { ReactNode } from 'react';
import styles from './trajectories.module.css';

export function Section({
  title,
  count,
  children,
}: {
  title: string;
  count?: number | undefined;
  children: ReactNode;
}) {
  return (
    <section className={styles.factSection}>
      <h3>
        {title}
        {count !== undefined && <span className={styles.dim}>{` ${String(count)}`}</span>}
      </h3>
      {children}
    </section>
  );
}

export function Fact({
  name,
  title,
  mono = false,
  children,
}: {
  name: string;
  title?: string | undefined;
  mono?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={styles.fact}>
      <span className={styles.factName}>{name}</span>
      <span className={mono ? styles.factMono : styles.factValue} title={title}>
        {children}
      </span>
    </div>
  );
}
