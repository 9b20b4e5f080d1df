import { useMemo } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { datasetPartSchema } from '#shared/schema/dataset.ts';
import type { Dataset, SftRow } from '#shared/schema/dataset.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../../ui/format.ts';
import { useKeys } from '../../ui/keys.ts';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { VirtualList } from '../../ui/viewer/virtual-list.tsx';
import { partLabels } from './part-labels.ts';
import { RowView } from './row-view.tsx';
import styles from './datasets.module.css';

const pageSize = 100;

/** The lines of a part as they stand in the file: list on the left, the whole conversation on the right. */
export function RowsView({ dataset }: { dataset: Dataset }) {
  const [parameters, setParameters] = useSearchParams();
  const part = datasetPartSchema.safeParse(parameters.get('part')).data ?? 'expert_sft';
  const wanted = Number(parameters.get('row') ?? '0');
  const list = useInfiniteQuery({
    ...orpc.datasets.rows.infiniteOptions({
      input: (offset: number) => ({ datasetId: dataset.datasetId, part, offset, limit: pageSize }),
      initialPageParam: 0,
      getNextPageParam: (page, _all, offset: number) =>
        offset + page.rows.length < page.total && page.rows.length > 0 ? offset + page.rows.length : null,
    }),
    staleTime: Infinity,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  const total = list.data?.pages[0]?.total ?? null;
  const selected = Number.isSafeInteger(wanted) ? Math.max(0, Math.min(rows.length - 1, wanted)) : 0;
  const current = rows[selected];
  const put = (changes: Record<string, string>) => {
    setParameters(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  const select = (index: number) => {
    put({ row: String(Math.max(0, Math.min(rows.length - 1, index))) });
  };
  const more = () => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  useKeys([
    {
      key: 'j',
      label: 'Next row',
      run: () => {
        select(selected + 1);
      },
    },
    {
      key: 'k',
      label: 'Previous row',
      run: () => {
        select(selected - 1);
      },
    },
    {
      key: 'ArrowDown',
      label: 'Next row',
      run: () => {
        select(selected + 1);
      },
    },
    {
      key: 'ArrowUp',
      label: 'Previous row',
      run: () => {
        select(selected - 1);
      },
    },
  ]);
  return (
    <div className={styles.rowsView}>
      <div className={styles.rowsBar}>
        <SegmentedControl
          size="xs"
          value={part}
          onChange={(value) => {
            put({ part: value, row: '0' });
          }}
          data={datasetPartSchema.options.map((value) => ({ value, label: partLabels[value].label }))}
          aria-label="Part"
        />
        <span className={styles.dim}>
          {`${partLabels[part].what}${total === null ? '' : `, ${formatInteger(total)} rows`}`}
        </span>
      </div>
      {list.isError ? (
        <Notice>
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        </Notice>
      ) : list.isPending ? (
        <Notice>
          <LoadingState rows={12} />
        </Notice>
      ) : current === undefined ? (
        <Notice>
          <EmptyState title="This part is empty">
            The run made no row of this kind: its branching or reflection was off, or every row was dropped by
            a filter. The manifest counts the drops.
          </EmptyState>
        </Notice>
      ) : (
        <div className={styles.rowsPanes}>
          <VirtualList
            label="Rows"
            items={rows}
            rowHeight={46}
            selected={selected}
            keyOf={(row) => row.id}
            onSelect={select}
            onEnd={more}
            row={(row, index) => <RowCell row={row} index={index} />}
          />
          <div className={styles.rowPane}>
            <RowView row={current} />
          </div>
        </div>
      )}
    </div>
  );
}

function RowCell({ row, index }: { row: SftRow; index: number }) {
  return (
    <span className={styles.rowCell}>
      <span className={styles.rowLine}>
        <code>{row.meta.action}</code>
        <span className={styles.dim}>{formatInteger(index + 1)}</span>
      </span>
      <span className={styles.cutDim}>{(row.messages.at(-1)?.content ?? '').replaceAll('\n', ' ')}</span>
    </span>
  );
}
