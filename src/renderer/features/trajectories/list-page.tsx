import { useMemo } from 'react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconChecklist } from '@tabler/icons-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { orpc } from '../../rpc/client.ts';
import { useSystemStatus } from '../../rpc/status.ts';
import { formatInteger } from '../../ui/format.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { focusSearch } from '../../ui/viewer/search-field.tsx';
import { LinkButton } from '../../ui/viewer/link-button.tsx';
import { episodeColumns } from './episode-columns.tsx';
import { FilterBar, noFacets } from './filter-bar.tsx';
import { countFilters, listParameters, readQuery, writeQuery } from './filters.ts';
import type { EpisodeQuery } from './filters.ts';
import styles from './trajectories.module.css';

/** All episodes, filtered and sorted in SQL, paged by keyset. The URL holds the filters and the selected row. */
export function TrajectoriesPage() {
  const [, navigate] = useLocation();
  const [parameters, setParameters] = useSearchParams();
  const query = useMemo(() => readQuery(parameters), [parameters]);
  const status = useSystemStatus();

  const facets = useQuery(orpc.episodes.facets.queryOptions());
  const list = useInfiniteQuery({
    ...orpc.episodes.list.infiniteOptions({
      input: (cursor: string | null) => ({ filter: query.filter, sort: query.sort, cursor, limit: 100 }),
      initialPageParam: null,
      getNextPageParam: (page) => page.nextCursor,
    }),
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const total = list.data?.pages[0]?.total ?? null;
  const change = (next: EpisodeQuery) => {
    setParameters((before) => writeQuery(next, before), { replace: true });
  };
  useKeys([
    {
      key: '/',
      label: 'Search',
      run: () => {
        focusSearch();
      },
    },
  ]);

  const filtered = countFilters(query.filter) > 0;
  const toReview = status.data?.counts.reflectionsToReview ?? 0;
  return (
    <Page
      layout="flush"
      title="Trajectories"
      actions={
        <Button
          size="xs"
          variant="default"
          component={Link}
          href="/trajectories/reviews"
          leftSection={<IconChecklist size={14} />}
        >
          {toReview === 0 ? 'Review reflections' : `Review reflections (${formatInteger(toReview)})`}
        </Button>
      }
    >
      <div className={styles.list}>
        <FilterBar query={query} facets={facets.data ?? noFacets} onChange={change} />
        <p className={styles.count} aria-live="polite">
          {total !== null
            ? `${formatInteger(total)} ${filtered ? 'matching ' : ''}${total === 1 ? 'episode' : 'episodes'}`
            : list.isPending
              ? 'Loading'
              : `${formatInteger(rows.length)} loaded`}
        </p>
        {list.isError && rows.length === 0 ? (
          <Notice>
            <ErrorState error={list.error} onRetry={() => void list.refetch()} />
          </Notice>
        ) : list.isPending ? (
          <Notice>
            <LoadingState rows={16} />
          </Notice>
        ) : rows.length === 0 ? (
          <Notice>
            <EmptyState
              title={filtered ? 'No episode matches these filters' : 'No episode yet'}
              action={
                filtered ? (
                  <Button
                    onClick={() => {
                      change({ filter: {}, sort: query.sort });
                    }}
                  >
                    {'Clear filters'}
                  </Button>
                ) : (
                  <LinkButton href={'/runs/new'}>{'Start a run'}</LinkButton>
                )
              }
            >
              {filtered
                ? 'Loosen a filter, or clear them all.'
                : 'An episode is one attempt at one task: every observation, thought, action and reward. Runs make them, and so does playing a world by hand.'}
            </EmptyState>
          </Notice>
        ) : (
          <div className={styles.table} data-stale={list.isPlaceholderData || undefined}>
            <VirtualTable
              label="Episodes"
              columns={episodeColumns}
              rows={rows}
              rowKey={(row) => row.episodeId}
              placeKey={`/trajectories${listParameters(parameters)}`}
              total={total}
              hasMore={list.hasNextPage}
              loadingMore={list.isFetchingNextPage}
              onMore={() => void list.fetchNextPage()}
              onOpen={(row) => {
                navigate(`/trajectories/${encodeURIComponent(row.episodeId)}${listParameters(parameters)}`);
              }}
            />
          </div>
        )}
      </div>
    </Page>
  );
}
