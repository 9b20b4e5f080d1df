import { useMemo } from 'react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Button, Select } from '@mantine/core';
import { IconDice5 } from '@tabler/icons-react';
import { useLocation, useSearchParams } from 'wouter';
import type { EnvironmentDescription, Task } from '#shared/schema/environment.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../../ui/format.ts';
import { useKeys } from '../../ui/keys.ts';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { SearchField, focusSearch } from '../../ui/viewer/search-field.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import type { Column } from '../../ui/virtual-table.tsx';
import { playPath, readTaskFilter, writeTaskFilter } from './task-query.ts';
import type { TaskFilter } from './task-query.ts';
import styles from './environments.module.css';

const columns: readonly Column<Task>[] = [
  {
    id: 'instruction',
    header: 'Instruction',
    width: 'minmax(220px, 3fr)',
    cell: (task) => task.instruction,
    title: (task) => task.instruction,
  },
  {
    id: 'type',
    header: 'Type',
    width: 'minmax(110px, 1.2fr)',
    cell: (task) => <span className={styles.dim}>{task.type}</span>,
  },
  {
    id: 'split',
    header: 'Split',
    width: '100px',
    cell: (task) => <span className={styles.dim}>{task.split}</span>,
  },
  {
    id: 'id',
    header: 'Id',
    width: 'minmax(120px, 1.6fr)',
    cell: (task) => <code className={styles.taskId}>{task.taskId}</code>,
    title: (task) => task.taskId,
  },
];

/** Every task of a world; Enter or a click plays it. */
export function TaskBrowser({ environment }: { environment: EnvironmentDescription }) {
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();
  const filter = useMemo(() => readTaskFilter(parameters), [parameters]);
  const list = useInfiniteQuery({
    ...orpc.environments.tasks.infiniteOptions({
      input: (cursor: string | null) => ({ environmentId: environment.id, ...filter, cursor, limit: 200 }),
      initialPageParam: null,
      getNextPageParam: (page) => page.nextCursor,
    }),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
  const tasks = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const total = list.data?.pages[0]?.total ?? null;

  const set = (change: TaskFilter) => {
    setParameters((before) => writeTaskFilter(change, before), { replace: true });
  };
  const play = (task: Task | undefined) => {
    if (task !== undefined) navigate(playPath(environment.id, task.taskId, parameters));
  };
  useKeys([{ key: '/', label: 'Search', run: focusSearch }]);

  return (
    <div className={styles.browser}>
      <div className={styles.browserBar}>
        <SearchField
          label="Search the instruction"
          value={filter.text ?? ''}
          onCommit={(text) => {
            set({ ...filter, text });
          }}
        />
        <Select
          size="xs"
          aria-label="Split"
          placeholder="Split"
          clearable
          data={environment.splits.map((split) => split.split)}
          value={filter.split ?? null}
          onChange={(value) => {
            const split = splitSchema.safeParse(value);
            const { split: _, ...rest } = filter;
            set(split.success ? { ...rest, split: split.data } : rest);
          }}
        />
        <Select
          size="xs"
          aria-label="Task type"
          placeholder="Task type"
          clearable
          data={environment.taskTypes}
          value={filter.type ?? null}
          onChange={(value) => {
            const { type: _, ...rest } = filter;
            set(value === null ? rest : { ...rest, type: value });
          }}
        />
        <span className={styles.dim} aria-live="polite">
          {total === null ? `${formatInteger(tasks.length)} loaded` : `${formatInteger(total)} tasks`}
        </span>
        <Button
          size="xs"
          className={styles.pushRight}
          disabled={tasks.length === 0}
          leftSection={<IconDice5 size={14} />}
          onClick={() => {
            play(tasks[Math.floor(Math.random() * tasks.length)]);
          }}
        >
          Play one of these
        </Button>
      </div>
      {list.isError && tasks.length === 0 ? (
        <Notice>
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        </Notice>
      ) : list.isPending ? (
        <Notice>
          <LoadingState rows={14} />
        </Notice>
      ) : tasks.length === 0 ? (
        <Notice>
          <EmptyState
            title="No task matches"
            action={
              <Button
                onClick={() => {
                  set({});
                }}
              >
                {'Clear filters'}
              </Button>
            }
          >
            No task of this world has these words in its instruction within the chosen split and type.
          </EmptyState>
        </Notice>
      ) : (
        <div className={styles.taskTable} data-stale={list.isPlaceholderData || undefined}>
          <VirtualTable
            label="Tasks"
            columns={columns}
            rows={tasks}
            rowKey={(task) => task.taskId}
            placeKey={`/environments/${environment.id}?${writeTaskFilter(filter, new URLSearchParams()).toString()}`}
            total={total}
            hasMore={list.hasNextPage}
            loadingMore={list.isFetchingNextPage}
            onMore={() => void list.fetchNextPage()}
            onOpen={play}
          />
        </div>
      )}
    </div>
  );
}
