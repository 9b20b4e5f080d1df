import type { Job } from '#shared/schema/job.ts';

/** The page of a job, below the list that it stands in: a training is no run. */
export function jobHref({ jobId, kind }: Pick<Job, 'jobId' | 'kind'>): string {
  return `${kind === 'train' ? '/training/jobs' : '/runs'}/${encodeURIComponent(jobId)}`;
}
