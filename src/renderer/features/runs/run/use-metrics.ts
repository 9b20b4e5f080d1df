import { useQueries } from '@tanstack/react-query';
import type { Job } from '#shared/schema/job.ts';
import { orpc } from '../../../rpc/client.ts';

/** What each stage has measured so far, in the order of the stages; asked again while it runs. */
export function useMetrics(stages: readonly Job[], live: boolean) {
  return useQueries({
    queries: stages.map((stage) => ({
      ...orpc.jobs.metrics.queryOptions({ input: { jobId: stage.jobId } }),
      refetchInterval: live && stage.state === 'running' ? 1500 : (false as const),
    })),
  });
}
