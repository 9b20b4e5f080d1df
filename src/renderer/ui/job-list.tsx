import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Job, JobFilter } from '#shared/schema/job.ts';
import { orpc } from '../rpc/client.ts';
import { isFinished } from './progress.ts';
import { ErrorState, LoadingState } from './states.tsx';
import { VirtualTable } from './virtual-table.tsx';
import type { Column } from './virtual-table.tsx';

const pad = { padding: '8px 20px' };

/** Jobs of a kind or state, newest first, page by page; asked for again soon while one of them is unfinished. */
export function JobList({
  label,
  filter,
  columns,
  addressOf,
  placeKey,
  empty,
}: {
  /** What the jobs are called, in the plural: “Runs”. */
  label: string;
  filter: JobFilter;
  columns: Column<Job>[];
  addressOf: (job: Job) => string;
  placeKey: string;
  /** Shown instead of no rows. */
  empty: ReactNode;
}) {
  const [, navigate] = useLocation();
  const query = useInfiniteQuery({
    ...orpc.jobs.list.infiniteOptions({
      input: (cursor: string | null) => ({ cursor, limit: 100, filter }),
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.nextCursor,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: (current) =>
      current.state.data?.pages.some((page) => page.items.some((job) => !isFinished(job.state))) === true
        ? 2000
        : 15_000,
  });
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  if (query.isPending) {
    return (
      <div style={pad}>
        <LoadingState rows={12} rowHeight={24} />
      </div>
    );
  }
  if (query.isError && rows.length === 0) {
    return (
      <div style={pad}>
        <ErrorState
          title={`The ${label.toLowerCase()} could not be read`}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      </div>
    );
  }
  if (rows.length === 0) return <div style={pad}>{empty}</div>;
  return (
    <VirtualTable
      label={label}
      columns={columns}
      rows={rows}
      rowKey={(job) => job.jobId}
      onOpen={(job) => {
        navigate(addressOf(job));
      }}
      placeKey={placeKey}
      hasMore={query.hasNextPage}
      loadingMore={query.isFetchingNextPage}
      onMore={() => void query.fetchNextPage()}
      total={query.data?.pages[0]?.total ?? null}
    />
  );
}
