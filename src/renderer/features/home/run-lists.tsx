import { Link } from 'wouter';
import type { Job } from '#shared/schema/job.ts';
import { formatDuration } from '../../ui/format.ts';
import { jobHref } from '../../ui/job-href.ts';
import { elapsedMs, isFinished, progressWords, remainingMs } from '../../ui/progress.ts';
import { LoadingState } from '../../ui/states.tsx';
import { JobBadge } from '../../ui/status-badge.tsx';
import { Time, useNow } from '../../ui/text.tsx';
import styles from './home.module.css';

export function RunningNow({ jobs, pending }: { jobs: readonly Job[]; pending: boolean }) {
  const now = useNow(1000);
  const running = jobs.filter(({ state }) => !isFinished(state));
  return (
    <section className={styles.section} aria-label="Running now">
      <h2>
        Now <Link href="/runs">All runs</Link>
      </h2>
      {pending && <LoadingState rows={2} />}
      {!pending && running.length === 0 && <p className={styles.dim}>Nothing is running.</p>}
      {running.map((job) => {
        const left = remainingMs(job, now);
        return (
          <div key={job.jobId} className={styles.row}>
            <JobBadge state={job.state} />
            <Link href={jobHref(job)} className={styles.cut}>
              {job.title}
            </Link>
            <span className={styles.cut}>{progressWords(job)}</span>
            <span className={styles.right}>
              {left === null ? formatDuration(elapsedMs(job, now)) : `${formatDuration(left)} left`}
            </span>
          </div>
        );
      })}
    </section>
  );
}

export function Results({ jobs, pending }: { jobs: readonly Job[]; pending: boolean }) {
  const now = useNow(30_000);
  const finished = jobs.filter(({ state }) => isFinished(state)).slice(0, 8);
  return (
    <section className={styles.section} aria-label="Last results">
      <h2>Last results</h2>
      {pending && <LoadingState rows={4} />}
      {!pending && finished.length === 0 && <p className={styles.dim}>No run has ended yet.</p>}
      {finished.map((job) => (
        <div key={job.jobId} className={styles.row}>
          <JobBadge state={job.state} />
          <Link href={jobHref(job)} className={styles.cut}>
            {job.title}
          </Link>
          <span className={styles.cut}>in {formatDuration(elapsedMs(job, now))}</span>
          <span className={styles.right}>
            <Time at={job.finishedAt ?? job.createdAt} />
          </span>
        </div>
      ))}
    </section>
  );
}
