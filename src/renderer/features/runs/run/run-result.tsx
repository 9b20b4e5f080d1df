import { Link } from 'wouter';
import type { Job } from '#shared/schema/job.ts';
import { formatNumber } from '../../../ui/format.ts';
import { Stat } from '../../../ui/text.tsx';
import styles from './run.module.css';

type Json = Job['result'];

/** Numbers of a result by their path: `branches.accepted` → “branches accepted”. */
export function numbersOf(result: Json, prefix: readonly string[] = []): [string, number][] {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return [];
  return Object.entries(result).flatMap(([key, value]): [string, number][] => {
    const path = [...prefix, key];
    if (typeof value === 'number')
      return [
        [
          path
            .join(' ')
            .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
            .toLowerCase(),
          value,
        ],
      ];
    return prefix.length < 2 ? numbersOf(value, path) : [];
  });
}

function textOf(result: Json, key: string): string | null {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return null;
  const value = result[key];
  return typeof value === 'string' ? value : null;
}

/** What a finished stage counted, and where its data set is. */
export function RunResult({ jobs }: { jobs: readonly Job[] }) {
  const withResult = jobs.filter(({ result }) => result !== null && numbersOf(result).length > 0);
  if (withResult.length === 0) return null;
  return (
    <section className={styles.section} aria-label="Results">
      <div className={styles.sectionHead}>
        <h2>Results</h2>
      </div>
      {withResult.map((job) => {
        const datasetId = textOf(job.result, 'datasetId');
        return (
          <div key={job.jobId} style={{ marginBottom: 8 }}>
            <p className={styles.dim} style={{ margin: '0 0 4px' }}>
              {job.stage ?? job.title}
              {datasetId !== null && (
                <>
                  {' · '}
                  <Link href={`/datasets/${encodeURIComponent(datasetId)}`}>open the data set</Link>
                </>
              )}
            </p>
            <div className={styles.result}>
              {numbersOf(job.result).map(([name, value]) => (
                <Stat key={name} label={name} value={formatNumber(value)} title={String(value)} />
              ))}
            </div>
          </div>
        );
      })}
    </section>
  );
}
