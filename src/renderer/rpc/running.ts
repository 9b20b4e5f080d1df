import { useQuery } from '@tanstack/react-query';
import type { Job } from '#shared/schema/job.ts';
import type { JobUpdate } from '#shared/contract/jobs.ts';
import { orpc, queryClient } from './client.ts';
import { useSystemStatus } from './status.ts';

const running = { limit: 50, filter: { state: 'running' } } as const;

/** The stream of an open page knows the progress of its jobs before they are asked for again: one job, one number everywhere. */
export function tellRunning({ job, children }: Pick<JobUpdate, 'job' | 'children'>): void {
  const fresh = new Map([job, ...children].map((one) => [one.jobId, one]));
  queryClient.setQueryData(orpc.jobs.list.queryKey({ input: running }), (old) =>
    old === undefined
      ? old
      : { ...old, items: old.items.map((item) => ({ ...item, ...fresh.get(item.jobId) })) },
  );
}

/** Runs that are running now, each with the stage that it is in. Asked only while something runs. */
export function useRunning(): { run: Job; stage: Job | null }[] {
  const { data: status } = useSystemStatus();
  const any = (status?.counts.runningJobs ?? 0) > 0;
  const { data } = useQuery({
    ...orpc.jobs.list.queryOptions({ input: running }),
    enabled: any,
    refetchInterval: any ? 2000 : false,
  });
  if (!any || data === undefined) return [];
  return data.items
    .filter(({ parentId }) => parentId === null)
    .map((run) => ({ run, stage: data.items.find(({ parentId }) => parentId === run.jobId) ?? null }));
}
