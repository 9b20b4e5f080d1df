import { useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { JobEvent } from '#shared/schema/job.ts';
import { formatInteger } from '../../../ui/format.ts';
import { MeaningBadge } from '../../../ui/status-badge.tsx';
import styles from './run.module.css';

interface ErrorClass {
  name: string;
  count: number;
  last: string;
  level: 'warn' | 'error';
}

/** Warnings and errors of the events by their code, or by their type where they carry none. */
export function classesOf(events: readonly JobEvent[]): ErrorClass[] {
  const classes = new Map<string, ErrorClass>();
  for (const event of events) {
    if (event.level === 'info') continue;
    const code = event.data['code'];
    const name = typeof code === 'string' ? code : event.type;
    const known = classes.get(name);
    if (known === undefined) classes.set(name, { name, count: 1, last: event.message, level: event.level });
    else {
      known.count += 1;
      if (event.level === 'error') known.level = 'error';
    }
  }
  return [...classes.values()].toSorted((left, right) => right.count - left.count);
}

export function RunErrors({ events }: { events: readonly JobEvent[] }) {
  const [parameters] = useSearchParams();
  const classes = useMemo(() => classesOf(events), [events]);
  if (classes.length === 0) return null;
  return (
    <section className={styles.section} aria-label="Errors by class">
      <div className={styles.sectionHead}>
        <h2>Errors by class</h2>
        <span className={styles.dim}>of the last {formatInteger(events.length)} events</span>
      </div>
      {classes.map((one) => {
        const next = new URLSearchParams(parameters);
        next.set('tab', 'log');
        next.set('code', one.name);
        return (
          <div key={one.name} className={styles.errorRow}>
            <MeaningBadge meaning={one.level === 'error' ? 'error' : 'invalid'} word={one.name} />
            <Link href={`?${next.toString()}`}>{formatInteger(one.count)}×</Link>
            <span className={styles.cut} title={one.last}>
              {one.last}
            </span>
          </div>
        );
      })}
    </section>
  );
}
