import { Button, Select } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { jobStateSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { formatDuration } from '../../ui/format.ts';
import { jobHref } from '../../ui/job-href.ts';
import { JobList } from '../../ui/job-list.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { elapsedMs, isFinished, progressWords, remainingMs, shownState } from '../../ui/progress.ts';
import { EmptyState } from '../../ui/states.tsx';
import { JobBadge } from '../../ui/status-badge.tsx';
import { Time, useNow } from '../../ui/text.tsx';
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
      width: 'minmax(140px, 1.4fr)',
      cell: (job) => (
        <>
          {job.title}
          {job.attempt > 1 && <span className={styles.dim}> · attempt {job.attempt}</span>}
        </>
      ),
      title: (job) => job.title,
    },
    { id: 'kind', header: 'Kind', width: '104px', cell: (job) => job.kind.replaceAll('-', ' ') },
    {
      id: 'progress',
      header: 'Progress',
      width: 'minmax(180px, 1fr)',
      cell: (job) => <ProgressCell job={job} />,
      title: (job) => [progressWords(job), job.progress?.phase ?? ''].join('\n').trim(),
    },
    {
      id: 'elapsed',
      header: 'Elapsed',
      width: '84px',
      align: 'right',
      cell: (job) => formatDuration(elapsedMs(job, now)),
    },
    {
      id: 'left',
      header: 'Left',
      width: '84px',
      align: 'right',
      cell: (job) => {
        const left = remainingMs(job, now);
        return left === null ? '' : formatDuration(left);
      },
    },
    {
      id: 'created',
      header: 'Created',
      width: '92px',
      align: 'right',
      cell: (job) => <Time at={job.createdAt} />,
    },
  ];
}

function ProgressCell({ job }: { job: Job }) {
  const { progress } = job;
  const share = progress?.total ? Math.min(1, progress.done / progress.total) : null;
  return (
    <span className={styles.progress}>
      {!isFinished(job.state) && share !== null && (
        <span className={styles.meter} aria-hidden>
          <span style={{ width: `${String(share * 100)}%` }} />
        </span>
      )}
      <span className={styles.cut}>{progressWords(job)}</span>
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
  useKeys([
    {
      key: 'n',
      label: 'New run',
      run: () => {
        navigate('/runs/new');
      },
    },
  ]);
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
      <JobList
        label="Runs"
        filter={{ parentId: null, ...(state === undefined ? {} : { state }) }}
        columns={columns(now)}
        addressOf={jobHref}
        placeKey={`runs?${parameters.toString()}`}
        empty={
          <EmptyState title={state === undefined ? 'No run yet' : `No run is ${state}`} action={newRun}>
            A run lets a model act in an environment, or branches demonstrations into experience and writes
            the data sets.
          </EmptyState>
        }
      />
    </Page>
  );
}
