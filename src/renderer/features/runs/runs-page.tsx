import { Button, Select } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearchParams } from 'wouter';
import { jobStateSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { orpc } from '../../rpc/client.ts';
import { formatDuration, formatInteger, formatPercent } from '../../ui/format.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { elapsedMs, isFinished, remainingMs, shownState } from '../../ui/progress.ts';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { JobBadge } from '../../ui/status-badge.tsx';
import { Time, useNow } from '../../ui/text.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import type { Column } from '../../ui/virtual-table.tsx';
import styles from './runs.module.css';

function columns(now: number): Column<Job>[] {
  return [
    {
      id: 'state',
      header: 'State',
      width: '108px',
      // Stages speak for their parent, so a list cannot know that a pipeline stalls; its page does.
      cell: (job) => (
        <JobBadge
          state={job.parentId === null && job.kind !== 'rollout' ? job.state : shownState(job, now)}
        />
      ),
    },
    {
      id: 'title',
      header: 'Run',
      width: 'minmax(220px, 1fr)',
      cell: (job) => job.title,
      title: (job) => job.title,
    },
    { id: 'kind', header: 'Kind', width: '130px', cell: (job) => job.kind.replaceAll('-', ' ') },
    {
      id: 'progress',
      header: 'Progress',
      width: '190px',
      cell: (job) => <ProgressCell job={job} />,
      title: (job) => job.progress?.phase ?? '',
    },
    {
      id: 'elapsed',
      header: 'Elapsed',
      width: '100px',
      align: 'right',
      cell: (job) => formatDuration(elapsedMs(job, now)),
    },
    {
      id: 'left',
      header: 'Left',
      width: '100px',
      align: 'right',
      cell: (job) => {
        const left = remainingMs(job, now);
        return left === null ? '' : formatDuration(left);
      },
    },
    {
      id: 'attempt',
      header: 'Attempt',
      width: '60px',
      align: 'right',
      cell: (job) => (job.attempt > 1 ? job.attempt : ''),
    },
    {
      id: 'created',
      header: 'Created',
      width: '110px',
      align: 'right',
      cell: (job) => <Time at={job.createdAt} />,
    },
  ];
}

function ProgressCell({ job }: { job: Job }) {
  const { progress } = job;
  if (progress === null) return null;
  if (progress.total === null) return `${formatInteger(progress.done)} ${progress.unit}`;
  const share = progress.total === 0 ? 0 : progress.done / progress.total;
  return (
    <span className={styles.progress}>
      {!isFinished(job.state) && (
        <span className={styles.meter} aria-hidden>
          <span style={{ width: `${String(Math.min(100, share * 100))}%` }} />
        </span>
      )}
      {isFinished(job.state)
        ? `${formatInteger(progress.done)} of ${formatInteger(progress.total)} ${progress.unit}`
        : `${formatPercent(progress.done, progress.total)} of ${formatInteger(progress.total)} ${progress.unit}`}
    </span>
  );
}

const states = jobStateSchema.options;

/** Every run, newest first; the filter is in the address. */
export default function RunsPage() {
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();
  const state = states.find((option) => option === parameters.get('state'));
  const now = useNow(2000);
  const query = useInfiniteQuery({
    ...orpc.jobs.list.infiniteOptions({
      input: (cursor: string | null) => ({
        cursor,
        limit: 100,
        filter: { parentId: null, ...(state === undefined ? {} : { state }) },
      }),
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.nextCursor,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: (current) =>
      current.state.data?.pages.some((page) => page.items.some((job) => !isFinished(job.state))) === true
        ? 2000
        : 15_000,
  });
  useKeys([
    {
      key: 'n',
      label: 'New run',
      run: () => {
        navigate('/runs/new');
      },
    },
  ]);
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  const newRun = (
    <Button component={Link} href="/runs/new" leftSection={<IconPlus size={14} />}>
      New run
    </Button>
  );
  return (
    <Page
      title="Runs"
      layout="flush"
      actions={
        <>
          <Select
            w={150}
            aria-label="State"
            data={[
              { value: '', label: 'Any state' },
              ...states.map((option) => ({ value: option, label: option })),
            ]}
            value={state ?? ''}
            onChange={(next) => {
              setParameters(next === null || next === '' ? {} : { state: next }, { replace: true });
            }}
          />
          {newRun}
        </>
      }
    >
      {query.isPending ? (
        <div className={styles.pad}>
          <LoadingState rows={12} rowHeight={24} />
        </div>
      ) : query.isError && rows.length === 0 ? (
        <div className={styles.pad}>
          <ErrorState
            title="The runs could not be read"
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      ) : rows.length === 0 ? (
        <div className={styles.pad}>
          <EmptyState title={state === undefined ? 'No run yet' : `No run is ${state}`} action={newRun}>
            A run lets a model act in an environment, or branches demonstrations into experience and writes
            the data sets.
          </EmptyState>
        </div>
      ) : (
        <VirtualTable
          label="Runs"
          columns={columns(now)}
          rows={rows}
          rowKey={(job) => job.jobId}
          onOpen={(job) => {
            navigate(`/runs/${encodeURIComponent(job.jobId)}`);
          }}
          placeKey={`runs?${parameters.toString()}`}
          hasMore={query.hasNextPage}
          loadingMore={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
          total={query.data?.pages[0]?.total ?? null}
        />
      )}
    </Page>
  );
}
