import type { CSSProperties } from 'react';
import { Link } from 'wouter';
import type { Job, MetricPoint } from '#shared/schema/job.ts';
import { formatInteger, formatNumber } from '../../../ui/format.ts';
import { countsSoFar, numbersOf, rowsOf, soFarTitle } from './result-counts.ts';
import { stageTitle } from './stage-title.ts';
import { SuccessTable } from './success-table.tsx';
import { successOf, withoutSuccess } from './success.ts';
import { useMetrics } from './use-metrics.ts';
import styles from './run.module.css';

function textOf(result: Job['result'], key: string): string | null {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return null;
  const value = result[key];
  return typeof value === 'string' ? value : null;
}

/** What each stage counted, a column under its segment: its result, or what it has measured so far. */
export function RunResult({
  jobs,
  columns,
  live,
}: {
  jobs: readonly Job[];
  /** Segments of the bar above, those to come included, so that a column stands under its own. */
  columns: number;
  live: boolean;
}) {
  const metrics = useMetrics(jobs, live);
  const results = jobs.map((job, index) => {
    const points = metrics[index]?.data ?? [];
    return { job, points, success: successOf(job, points) };
  });
  return (
    <section className={styles.section} aria-label="Results">
      {/* Wider than a stage's column in most windows, so it stands above them. */}
      {results.map(({ job, success }) => (
        <SuccessTable
          key={job.jobId}
          rows={success}
          caption={jobs.length > 1 ? `Success: ${stageTitle(job)}` : null}
        />
      ))}
      <div
        className={jobs.length > 1 ? styles.pipeline : styles.resultOne}
        style={{ '--stages': Math.max(columns, jobs.length) } as CSSProperties}
      >
        {results.map(({ job, points, success }) => (
          <StageResult key={job.jobId} job={job} points={points} scores={success.length > 0} />
        ))}
      </div>
    </section>
  );
}

function StageResult({
  job,
  points,
  scores,
}: {
  job: Job;
  points: readonly MetricPoint[];
  /** Its successes are told in their own table. */
  scores: boolean;
}) {
  const { result } = job;
  const numbers =
    result === null ? countsSoFar(job, points) : numbersOf(scores ? withoutSuccess(result) : result);
  const zeros = result === null ? [] : numbers.filter(([, value]) => value === 0);
  const datasetId = textOf(result, 'datasetId');
  return (
    <div className={styles.result}>
      {result === null && <p className={styles.soFar}>{soFarTitle(job)}</p>}
      <Counts numbers={rowsOf(result).map(([part, rows]) => [`Rows in ${part}`, rows])} />
      <Counts numbers={numbers.filter((entry) => !zeros.includes(entry))} />
      {zeros.length > 0 && (
        <details>
          <summary className={styles.dim}>
            {zeros.length === 1 ? '1 more is zero' : `${String(zeros.length)} more are zero`}
          </summary>
          <Counts numbers={zeros} />
        </details>
      )}
      {datasetId !== null && (
        <Link href={`/datasets/${encodeURIComponent(datasetId)}`}>Open the data set</Link>
      )}
    </div>
  );
}

function Counts({ numbers }: { numbers: readonly [string, number][] }) {
  if (numbers.length === 0) return null;
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
