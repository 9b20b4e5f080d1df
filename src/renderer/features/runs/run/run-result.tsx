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

/** What each finished stage counted, a column under its segment; zeros are folded. */
export function RunResult({ jobs }: { jobs: readonly Job[] }) {
  if (jobs.every(({ result }) => numbersOf(result).length === 0)) return null;
  return (
    <section className={styles.section} aria-label="Results">
      <div className={jobs.length > 1 ? styles.pipeline : styles.resultOne}>
        {jobs.map((job) => {
          const datasetId = textOf(job.result, 'datasetId');
          const numbers = numbersOf(job.result);
          const zeros = numbers.filter(([, value]) => value === 0);
          return (
            <div key={job.jobId} className={styles.result}>
              {numbers.length === 0 && (
                <p className={styles.dim}>{job.result === null ? 'nothing counted yet' : ''}</p>
              )}
              <Counts numbers={numbers.filter(([, value]) => value !== 0)} />
              {zeros.length > 0 && (
                <details>
                  <summary className={styles.dim}>{zeros.length} more are zero</summary>
                  <Counts numbers={zeros} />
                </details>
              )}
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

function Counts({ numbers }: { numbers: readonly [string, number][] }) {
  return (
    <dl>
      {numbers.map(([name, value]) => (
        <div key={name} className={styles.count}>
          <dt title={name}>{name}</dt>
          <dd title={String(value)}>
            {Number.isInteger(value) ? formatInteger(value) : formatNumber(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
