import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { JobId } from '#shared/ids.ts';
import { eventLevels } from '#shared/schema/job.ts';
import type { JobEvent } from '#shared/schema/job.ts';
import { client, queryClient } from '../../../rpc/client.ts';

export interface LogFilter {
  /** At least this serious. */
  level: JobEvent['level'];
  /** Of the event's data, or its type; null: any. */
  code: string | null;
  /** Of one stage only; null: of the whole run. */
  stageId: JobId | null;
}

/** Lines asked for at a time. */
const batch = 200;

const freshKey = (jobId: JobId) => ['run-log-fresh', jobId] as const;

/** What the stream brought while somebody reads the log; without a reader it is not kept. `events` come oldest first. */
export function addToOpenLog(jobId: JobId, events: readonly JobEvent[]): void {
  queryClient.setQueryData<JobEvent[]>(freshKey(jobId), (old) => old && [...events.toReversed(), ...old]);
}

function isWanted(event: JobEvent, { level, code, stageId }: LogFilter): boolean {
  return (
    eventLevels.indexOf(event.level) >= eventLevels.indexOf(level) &&
    (stageId === null || event.jobId === stageId) &&
    (code === null || event.data['code'] === code || event.type === code)
  );
}

/**
 * The log of a run, newest first, to its first event: pages that the store filters, and above them what has happened since. The
 * pages never shift, so a reader keeps the place.
 */
export function useLog(jobId: JobId, filter: LogFilter) {
  const fresh = useQuery<JobEvent[]>({
    queryKey: freshKey(jobId),
    queryFn: () => [],
    initialData: [],
    staleTime: Infinity,
    gcTime: 0,
    enabled: false,
  });
  const pages = useInfiniteQuery({
    queryKey: ['run-log', jobId, filter],
    queryFn: ({ pageParam, signal }) => {
      const { level, code, stageId } = filter;
      return client.jobs.events(
        {
          jobId: stageId ?? jobId,
          level,
          ...(code === null ? {} : { code }),
          limit: batch,
          cursor: pageParam,
        },
        { signal },
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    staleTime: Infinity,
    // Kept only while it is read: what happens meanwhile is not added to a closed log.
    gcTime: 0,
  });
  const { level, code, stageId } = filter;
  const { events, total } = useMemo(() => {
    const older = pages.data?.pages.flatMap(({ items }) => items) ?? [];
    const newest = older[0]?.seq ?? 0;
    const since = fresh.data.filter(
      (event) => event.seq > newest && isWanted(event, { level, code, stageId }),
    );
    return { events: [...since, ...older], total: (pages.data?.pages[0]?.total ?? 0) + since.length };
  }, [pages.data, fresh.data, level, code, stageId]);
  return { pages, events, total };
}
