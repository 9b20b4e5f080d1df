/** Pause, resume and cancel of a job and its children, as changes of the database. Each may be asked twice. */
import { note } from '#core/jobs/ends.ts';
import type { NewEvent } from '#core/jobs/run.ts';
import type { Clock } from '#core/ports.ts';
import type { JobChange, Store } from '#core/store/port.ts';
import type { JobId } from '#shared/ids.ts';
import { pausingWords } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';

export interface RequestNeeds {
  store: Store;
  clock: Clock;
  /** @throws AppError NOT_FOUND */
  requireJob(jobId: JobId): Job;
  apply(jobId: JobId, change: JobChange, event: Omit<NewEvent, 'at'> | null): Job;
}

export interface Requests {
  pauseTree(jobId: JobId): void;
  resumeTree(jobId: JobId): void;
  cancelTree(jobId: JobId): void;
}

/** All inside the caller's transaction; telling the live runs comes after it. */
export function createRequests({ store, clock, requireJob, apply }: RequestNeeds): Requests {
  function pauseTree(jobId: JobId): void {
    for (const id of store.queue.descendants(jobId)) {
      const job = requireJob(id);
      if (job.state === 'queued')
        apply(id, { state: 'paused' }, note('job-paused', `${job.title} is paused.`));
      if (job.state === 'running') {
        apply(
          id,
          { state: 'pausing', resumeWanted: false },
          note('job-pausing', `${job.title} pauses: it ${pausingWords(job.progress)}.`),
        );
      }
    }
  }

  function resumeTree(jobId: JobId): void {
    const wasFailed = requireJob(jobId).state === 'failed';
    for (const id of store.queue.descendants(jobId)) {
      const job = requireJob(id);
      const revive = wasFailed && (job.state === 'failed' || (job.state === 'cancelled' && id !== jobId));
      if (job.state === 'paused' || revive) {
        apply(
          id,
          { state: 'queued', finishedAt: null, error: null, crashes: 0, idleCrashes: 0 },
          note('job-resumed', `${job.title} is queued again.`),
        );
      }
      if (job.state === 'pausing') {
        // The run may have acted on the pause already; it ends at its pause point, and is claimed again at once.
        apply(
          id,
          { state: 'running', resumeWanted: true },
          note('job-resumed', `The pause of ${job.title} is taken back; it goes on.`),
        );
      }
    }
  }

  /** Children first, so that a parent does not end before what it waits for. */
  function cancelTree(jobId: JobId): void {
    for (const id of store.queue.descendants(jobId).reverse()) {
      const job = requireJob(id);
      if (job.state === 'queued' || job.state === 'paused') {
        apply(
          id,
          { state: 'cancelled', finishedAt: clock.now() },
          note('job-cancelled', `${job.title} was cancelled.`),
        );
      }
      if (job.state === 'running' || job.state === 'pausing') {
        apply(id, { state: 'cancelling' }, note('job-cancelling', `${job.title} is being cancelled.`));
      }
    }
  }

  return { pauseTree, resumeTree, cancelTree };
}
