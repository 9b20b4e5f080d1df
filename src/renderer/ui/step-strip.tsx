import { Link } from 'wouter';
import type { Meaning } from './status-badge.tsx';
import styles from './step-strip.module.css';

export interface StepCell {
  meaning: Meaning;
  /** On hover and for screen readers: index and action, e.g. `3 · go to desk 1`. */
  label: string;
  href?: string;
}

/** An episode in one line: a cell a step, its meaning as colour and shape. More than `limit` cells end in a count. */
export function StepStrip({
  cells,
  selected,
  limit = 60,
  label,
}: {
  cells: readonly StepCell[];
  selected?: number;
  limit?: number;
  /** Of the whole strip. */
  label: string;
}) {
  const hidden = Math.max(0, cells.length - limit);
  return (
    <span className={styles.strip} role="group" aria-label={label}>
      {cells.slice(0, limit).map((cell, index) => {
        const name = [styles.cell, styles[cell.meaning], index === selected ? styles.selected : '']
          .join(' ')
          .trim();
        return cell.href === undefined ? (
          <span key={index} className={name} title={cell.label} />
        ) : (
          // Not in the tab order: a row of fifty stops is no keyboard path. The row's own link opens the episode, j/k step in it.
          <Link
            key={index}
            href={cell.href}
            className={name}
            title={cell.label}
            aria-label={cell.label}
            tabIndex={-1}
          />
        );
      })}
      {hidden > 0 && <span style={{ paddingLeft: 4 }}>+{hidden}</span>}
    </span>
  );
}
