import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { JobId } from '#shared/ids.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';
import { client, orpc, queryClient } from '../../../rpc/client.ts';
import { tellRunning } from '../../../rpc/running.ts';
import { useStream } from '../../../rpc/stream.ts';
import { isFinished } from '../../../ui/progress.ts';
import { addToOpenLog } from './use-log.ts';

/** Of the newest, which the overview counts; the log reads the whole story from the host. */
const keptEvents = 1000;

const eventsKey = (jobId: JobId) => ['run-events', jobId] as const;

/** Newest first, without repeats, whatever order they came in; at most `keptEvents`. */
function mergeEvents(old: readonly JobEvent[], fresh: readonly JobEvent[]): JobEvent[] {
  const bySeq = new Map([...old, ...fresh].map((event) => [event.seq, event]));
  return [...bySeq.values()].toSorted((left, right) => right.seq - left.seq).slice(0, keptEvents);
}

function refreshMeasured(): void {
  void queryClient.invalidateQueries({ queryKey: orpc.jobs.metrics.key() });
  void queryClient.invalidateQueries({ queryKey: orpc.episodes.key() });
}

interface Run {
  job: Job;
  children: Job[];
}

function statesOf({ job, children }: Pick<JobUpdate, 'job' | 'children'>): string {
  return [job, ...children].map(({ jobId, state }) => `${jobId} ${state}`).join();
}

/** The stream tells how the jobs stand; what they were asked and what came of it stays as it was read. */
export function withStatus(run: Run, { job, children }: Pick<JobUpdate, 'job' | 'children'>): Run {
  return {
    job: { ...run.job, ...job },
    children: children.map((child) => ({
      spec: null,
      result: null,
      ...run.children.find(({ jobId }) => jobId === child.jobId),
      ...child,
    })),
  };
}

/** A run with its stages and events: read once, then kept true by the stream, which resumes after the last event seen. */
export function useRun(jobId: JobId) {
  const runKey = orpc.jobs.get.queryKey({ input: { jobId } });
  const run = useQuery(orpc.jobs.get.queryOptions({ input: { jobId }, staleTime: 10_000 }));
  const events = useQuery({
    queryKey: eventsKey(jobId),
    queryFn: async ({ signal }) => {
      const page = await client.jobs.events({ jobId, limit: 200 }, { signal });
      return mergeEvents(queryClient.getQueryData<JobEvent[]>(eventsKey(jobId)) ?? [], page.items);
    },
    staleTime: Infinity,
  });
  const seenProgress = useRef('');
  const [movedAt, setMovedAt] = useState<number | null>(null);
  const state = run.data?.job.state;
  const live = state !== undefined && !isFinished(state) && events.isSuccess;
  useStream({
    key: live ? jobId : null,
    open: (signal) => {
      const seen = queryClient.getQueryData<JobEvent[]>(eventsKey(jobId));
      return client.jobs.watch({ jobId, afterSeq: seen?.[0]?.seq ?? 0 }, { signal });
    },
    onMessage: (update) => {
      const progress = JSON.stringify([update.job, ...update.children].map((one) => one.progress));
      if (progress !== seenProgress.current) {
        seenProgress.current = progress;
        setMovedAt(Date.now());
      }
      const before = queryClient.getQueryData(runKey);
      queryClient.setQueryData(runKey, (old) => old && withStatus(old, update));
      tellRunning(update);
      if (before !== undefined && statesOf(before) !== statesOf(update)) {
        // What a stage came to is in its result. One that stops is not asked again by its curves: what it measured last must still come.
        void queryClient.invalidateQueries({ queryKey: runKey });
        // Which stage is the running one is asked anew too.
        void queryClient.invalidateQueries({ queryKey: orpc.jobs.list.key() });
        refreshMeasured();
      }
      if (update.events.length > 0) {
        queryClient.setQueryData<JobEvent[]>(eventsKey(jobId), (old) =>
          mergeEvents(old ?? [], update.events),
        );
        addToOpenLog(jobId, update.events);
      }
    },
    onEnd: () => {
      void queryClient.invalidateQueries({ queryKey: runKey });
      refreshMeasured();
    },
  });
  return { run, events, movedAt };
}

/** The last sign of life of a run: its own, a stage's, or that its progress was seen to move. */
export function lastSign(job: Job, children: readonly Job[], movedAt: number | null): number | null {
  const times = [movedAt, ...[job, ...children].map(({ lastEventAt }) => lastEventAt)].filter(
    (time) => time !== null,
  );
  return times.length === 0 ? null : Math.max(...times);
}
