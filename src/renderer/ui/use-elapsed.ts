import { useState } from 'react';
import type { Job } from '#shared/schema/job.ts';
import { elapsedMs } from './progress.ts';

/**
 * The running time of a job, ms, that never goes back while it is shown: the page's clock may be a moment ahead of the word that
 * the job has stopped.
 */
export function useElapsed(job: Job, now: number): number {
  const value = elapsedMs(job, now);
  const [longest, setLongest] = useState({ jobId: job.jobId, value });
  const same = longest.jobId === job.jobId;
  if (!same || value > longest.value) setLongest({ jobId: job.jobId, value });
  return same ? Math.max(longest.value, value) : value;
}
