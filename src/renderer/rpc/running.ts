import { useQuery } from '@tanstack/react-query';
import type { Job } from '#shared/schema/job.ts';
import { orpc } from './client.ts';
import { useSystemStatus } from './status.ts';

/** Runs that are running now, each with the stage that it is in. Asked only while something runs. */
export function useRunning(): { run: Job; stage: Job | null }[] {
  const { data: status } = useSystemStatus();
  const any = (status?.counts.runningJobs ?? 0) > 0;
  const { data } = useQuery({
    ...orpc.jobs.list.queryOptions({ input: { limit: 50, filter: { state: 'running' } } }),
    enabled: any,
    refetchInterval: any ? 2000 : false,
  });
  if (!any || data === undefined) return [];
  return data.items
    .filter(({ parentId }) => parentId === null)
    .map((run) => ({ run, stage: data.items.find(({ parentId }) => parentId === run.jobId) ?? null }));
}
