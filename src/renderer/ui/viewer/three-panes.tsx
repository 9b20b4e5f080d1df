import type { ReactNode } from 'react';
import { SplitPane } from '../split-pane.tsx';
import styles from './viewer.module.css';

/** Steps | step | facts, each scrolling on its own; the outer two keep the width that the person gave them. */
export function ThreePanes({
  name,
  left,
  centre,
  right,
}: {
  name: string;
  left: ReactNode;
  centre: ReactNode;
  right: ReactNode;
}) {
  return (
    <SplitPane
      name={`${name}-left`}
      label="Width of the step list"
      initial={244}
      max={480}
      left={<div className={styles.pane}>{left}</div>}
      right={
        <SplitPane
          name={`${name}-right`}
          label="Width of the facts"
          fixed="right"
          initial={272}
          min={200}
          max={520}
          left={<div className={styles.pane}>{centre}</div>}
          right={<div className={styles.pane}>{right}</div>}
        />
      }
    />
  );
}
