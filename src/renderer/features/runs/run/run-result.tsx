import { Link } from 'wouter';
import type { Job } from '#shared/schema/job.ts';
import { formatInteger, formatNumber } from '../../../ui/format.ts';
import styles from './run.module.css';

type Json = Job['result'];

/** Numbers of a result by their path: `branches.accepted` → “branches accepted”. */
export function numbersOf(result: Json, prefix: readonly string[] = []): [string, number][] {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return [];
  return Object.entries(result).flatMap(([key, value]): [string, number][] => {
    const path = [...prefix, key];
    if (typeof value === 'number') {
      return [
        [
          path
            .join(' ')
            .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
            .toLowerCase(),
          value,
        ],
      ];
    }
    return prefix.length < 2 ? numbersOf(value, path) : [];
  });
}

function textOf(result: Json, key: string): string | null {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return null;
  const value = result[key];
  return typeof value === 'string' ? value : null;
}

/** What each finished stage counted, a column under its segment; what is zero steps back. */
export function RunResult({ jobs }: { jobs: readonly Job[] }) {
  if (jobs.every(({ result }) => numbersOf(result).length === 0)) return null;
  return (
    <section className={styles.section} aria-label="Results">
      <div className={jobs.length > 1 ? styles.pipeline : styles.resultOne}>
        {jobs.map((job) => {
          const datasetId = textOf(job.result, 'datasetId');
          const numbers = numbersOf(job.result);
          return (
            <div key={job.jobId} className={styles.result}>
              {numbers.length === 0 && <p className={styles.dim}>nothing counted yet</p>}
              <dl>
                {numbers.map(([name, value]) => (
                  <div key={name} className={value === 0 ? `${styles.count} ${styles.zero}` : styles.count}>
                    <dt title={name}>{name}</dt>
                    <dd title={String(value)}>
                      {Number.isInteger(value) ? formatInteger(value) : formatNumber(value)}
                    </dd>
                  </div>
                ))}
              </dl>
              {datasetId !== null && (
                <Link href={`/datasets/${encodeURIComponent(datasetId)}`}>Open the data set</Link>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}
