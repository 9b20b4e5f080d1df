import { useMemo, useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconPackageExport } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import type { Dataset, DatasetPart } from '#shared/schema/dataset.ts';
import { datasetPartSchema } from '#shared/schema/dataset.ts';
import { orpc } from '../../rpc/client.ts';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import { Time } from '../../ui/text.tsx';
import { Page } from '../../ui/page.tsx';
import { Notice } from '../../ui/viewer/notice.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { LinkButton } from '../../ui/viewer/link-button.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import type { Column } from '../../ui/virtual-table.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { partLabels } from './part-labels.ts';
import styles from './datasets.module.css';

const columns: readonly Column<Dataset>[] = [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(150px, 2fr)',
    cell: (set) => set.name,
    title: (set) => set.folder,
  },
  {
    id: 'world',
    header: 'World',
    width: 'minmax(100px, 1.2fr)',
    cell: (set) => (
      <span className={styles.dim}>{set.manifest.environments.map(({ id }) => id).join(', ')}</span>
    ),
  },
  ...datasetPartSchema.options.map((part): Column<Dataset> => ({
    id: part,
    header: partLabels[part].label,
    width: '84px',
    align: 'right',
    cell: (set) => formatInteger(rowsOf(set, part)),
    title: () => `${partLabels[part].what}, rows`,
  })),
  {
    id: 'size',
    header: 'Size',
    width: '72px',
    align: 'right',
    cell: (set) => formatBytes(set.manifest.files.reduce((sum, file) => sum + file.bytes, 0)),
  },
  {
    id: 'profile',
    header: 'Profile',
    width: 'minmax(120px, 1.2fr)',
    cell: ({ manifest }) => (
      <span className={styles.dim}>
        {manifest.deviations.length === 0
          ? manifest.profile
          : `${manifest.profile}, ${String(manifest.deviations.length)} deviations`}
      </span>
    ),
    title: ({ manifest }) => manifest.deviations.map(({ label }) => label).join(', '),
  },
  { id: 'made', header: 'Made', width: '90px', align: 'right', cell: (set) => <Time at={set.createdAt} /> },
];

/** Every data set that left a run, newest first. */
export function DatasetsPage() {
  const [, navigate] = useLocation();
  const [exporting, setExporting] = useState(false);
  const list = useInfiniteQuery(
    orpc.datasets.list.infiniteOptions({
      input: (cursor: string | null) => ({ cursor, limit: 100 }),
      initialPageParam: null,
      getNextPageParam: (page) => page.nextCursor,
    }),
  );
  const datasets = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  return (
    <Page
      layout="flush"
      title="Datasets"
      actions={
        <Button
          size="xs"
          leftSection={<IconPackageExport size={14} />}
          onClick={() => {
            setExporting(true);
          }}
        >
          Export a finished run
        </Button>
      }
    >
      <ExportDialog
        opened={exporting}
        jobId={null}
        onClose={() => {
          setExporting(false);
        }}
      />
      {list.isError ? (
        <Notice>
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        </Notice>
      ) : list.isPending ? (
        <Notice>
          <LoadingState rows={10} />
        </Notice>
      ) : datasets.length === 0 ? (
        <Notice>
          <EmptyState
            title="No data set yet"
            action={<LinkButton href={'/runs/new'}>{'New Early Experience run'}</LinkButton>}
          >
            An Early Experience run ends with three files that trainers read: the expert’s actions, the
            outcomes of all alternatives (world model), and the reflections. They appear here with their
            manifest.
          </EmptyState>
        </Notice>
      ) : (
        <div className={styles.listTable}>
          <VirtualTable
            label="Data sets"
            columns={columns}
            rows={datasets}
            rowKey={(dataset) => dataset.datasetId}
            placeKey="/datasets"
            total={list.data.pages[0]?.total ?? null}
            hasMore={list.hasNextPage}
            loadingMore={list.isFetchingNextPage}
            onMore={() => void list.fetchNextPage()}
            onOpen={(dataset) => {
              navigate(`/datasets/${encodeURIComponent(dataset.datasetId)}`);
            }}
          />
        </div>
      )}
    </Page>
  );
}

export function rowsOf(dataset: Dataset, part: DatasetPart): number {
  return dataset.manifest.files.find((file) => file.part === part)?.rows ?? 0;
}
