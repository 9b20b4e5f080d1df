import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import type { Job } from '#shared/schema/job.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import { orpc } from '../../rpc/client.ts';
import { formatDuration, formatInteger, shortId } from '../../ui/format.ts';
import { JobList } from '../../ui/job-list.tsx';
import { jobHref } from '../../ui/job-href.ts';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { elapsedMs, remainingMs, shownState } from '../../ui/progress.ts';
import { EmptyState } from '../../ui/states.tsx';
import { JobBadge } from '../../ui/status-badge.tsx';
import { Time, useNow } from '../../ui/text.tsx';
import type { Column } from '../../ui/virtual-table.tsx';

function runOf(job: Job): TrainRun | null {
  return trainRunSchema.safeParse(job.spec).data ?? null;
}

/** The names by which the lists know models and data sets; an id or a path where they do not. */
function useNames(): (id: string) => string {
  const models = useQuery(orpc.models.list.queryOptions());
  const datasets = useQuery(orpc.datasets.list.queryOptions({ input: { limit: 200 } }));
  const names = new Map<string, string>([
    ...(models.data ?? []).map(({ modelId, name }) => [modelId, name] as const),
    ...(datasets.data?.items ?? []).map(({ datasetId, name }) => [datasetId, name] as const),
  ]);
  return (id) => names.get(id) ?? id;
}

function columns(now: number, nameOf: (id: string) => string): Column<Job>[] {
  const dataset = (job: Job): string => {
    const source = runOf(job)?.dataset;
    if (source === undefined) return '';
    return 'folder' in source ? source.folder : `${nameOf(source.datasetId)} · ${shortId(source.datasetId)}`;
  };
  // The end of a path tells folders apart; the whole is on hover.
  const shortDataset = (job: Job): string => {
    const source = runOf(job)?.dataset;
    return source !== undefined && 'folder' in source
      ? source.folder.replace(/^.*[\\/](?=[^\\/]+$)/, '…/')
      : dataset(job);
  };
  const base = (job: Job): string => nameOf(runOf(job)?.base ?? '');
  return [
    {
      id: 'state',
      header: 'State',
      width: '108px',
      cell: (job) => <JobBadge state={shownState(job, now)} />,
    },
    {
      id: 'title',
      header: 'Training',
      width: 'minmax(110px, 1fr)',
      cell: (job) => job.title,
      title: (job) => job.title,
    },
    {
      id: 'recipe',
      header: 'Recipe',
      width: '84px',
      cell: (job) => {
        const run = runOf(job);
        return run === null ? '' : `${run.recipe} · ${run.weights.kind === 'full' ? 'full' : 'LoRA'}`;
      },
    },
    { id: 'base', header: 'Base', width: 'minmax(84px, 0.6fr)', cell: base, title: base },
    { id: 'dataset', header: 'Data set', width: 'minmax(88px, 0.6fr)', cell: shortDataset, title: dataset },
    {
      id: 'updates',
      header: 'Updates',
      width: '96px',
      align: 'right',
      cell: ({ progress }) =>
        progress?.unit === 'updates'
          ? `${formatInteger(progress.done)}${progress.total === null ? '' : ` / ${formatInteger(progress.total)}`}`
          : '',
    },
    {
      id: 'elapsed',
      header: 'Elapsed, left',
      width: '164px',
      align: 'right',
      cell: (job) => {
        const left = remainingMs(job, now);
        return `${formatDuration(elapsedMs(job, now))}${left === null ? '' : `, ${formatDuration(left)}`}`;
      },
    },
    {
      id: 'created',
      header: 'Created',
      width: '84px',
      align: 'right',
      cell: (job) => <Time at={job.createdAt} />,
    },
  ];
}

/** Every training, newest first. */
export default function TrainingPage() {
  const [, navigate] = useLocation();
  const now = useNow(2000);
  const nameOf = useNames();
  useKeys([
    {
      key: 'n',
      label: 'New training',
      run: () => {
        navigate('/training/new');
      },
    },
  ]);
  const create = (
    <Button component={Link} href="/training/new" leftSection={<IconPlus size={14} />}>
      New training
    </Button>
  );
  return (
    <Page title="Training" layout="flush" actions={create}>
      <JobList
        label="Trainings"
        filter={{ kind: 'train' }}
        columns={columns(now, nameOf)}
        addressOf={jobHref}
        placeKey="training"
        empty={
          <EmptyState title="No training yet" action={create}>
            A training teaches a model, or an adapter beside it, from the rows of a data set, on this machine.
            Runs of Early Experience write such data sets.
          </EmptyState>
        }
      />
    </Page>
  );
}
