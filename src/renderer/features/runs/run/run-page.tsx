import { Tabs } from '@mantine/core';
import { useLocation, useSearchParams } from 'wouter';
import { jobIdSchema } from '#shared/ids.ts';
import { pausingWords } from '#shared/schema/job.ts';
import type { Job, JobEvent, JobState } from '#shared/schema/job.ts';
import { useConnectionState } from '../../../rpc/client.ts';
import { formatClock, formatDuration, formatInteger } from '../../../ui/format.ts';
import { useKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { isFinished, remainingMs, shownState } from '../../../ui/progress.ts';
import { ErrorState, InfoNote, LoadingState, PartialNote, Stale } from '../../../ui/states.tsx';
import { JobBadge } from '../../../ui/status-badge.tsx';
import { Stat, Time, useNow } from '../../../ui/text.tsx';
import { useElapsed } from '../../../ui/use-elapsed.ts';
import { PipelineBar, stagesToCome } from './pipeline-bar.tsx';
import { RunActions } from './run-actions.tsx';
import { RunTab, tabs } from './run-tab.tsx';
import { lastSign, useRun } from './use-run.ts';
import styles from './run.module.css';

const noEvents: readonly JobEvent[] = [];

/** A run, live: what it does now, how fast, what came of it, what went wrong. Tab, stage and chart settings are in the address. */
export default function RunPage({ params }: { params: Readonly<Record<string, string | undefined>> }) {
  const jobId = jobIdSchema.parse(params['jobId'] ?? '-');
  const [path, navigate] = useLocation();
  const list = path.startsWith('/training/')
    ? { noun: 'training', label: 'Training', href: '/training', all: 'All trainings' }
    : { noun: 'run', label: 'Runs', href: '/runs', all: 'All runs' };
  const [parameters, setParameters] = useSearchParams();
  const { run, events, movedAt } = useRun(jobId);
  const connected = useConnectionState() === 'open';
  const clock = useNow(1000);
  useKeys([
    {
      key: 'Escape',
      label: 'Back to the list',
      run: () => {
        navigate(list.href);
      },
    },
  ]);
  const crumbs = [{ label: list.label, href: list.href }];
  if (run.isPending) {
    return (
      <Page title="Run" breadcrumb={crumbs}>
        <LoadingState rows={10} />
      </Page>
    );
  }
  if (run.isError && run.data === undefined) {
    return (
      <Page title="Run" breadcrumb={crumbs}>
        <ErrorState
          title={`This ${list.noun} could not be read`}
          error={run.error}
          onRetry={() => void run.refetch()}
          back={{ label: list.all, href: list.href }}
        />
      </Page>
    );
  }
  const { job, children } = run.data;
  const live = !isFinished(job.state);
  // Without a connection nothing is known of the time since.
  const now = connected ? clock : Math.min(clock, run.dataUpdatedAt);
  const sign = lastSign(job, children, movedAt);
  const state = shownState(job, now, sign);
  const stageId = parameters.get('stage');
  const tab = tabs.find((name) => name === parameters.get('tab')) ?? 'overview';
  const parts = children.length === 0 ? [job] : children;
  const toCome = stagesToCome(children.length === 0 ? null : job, parts);
  const chosen = stageId === null ? parts : parts.filter((part) => part.jobId === stageId);
  const current = children.find(({ state: own }) => own === 'running' || own === 'pausing') ?? job;
  const remaining = remainingMs(current, now);
  const set = (name: string, value: string | null) => {
    setParameters((old) => {
      const next = new URLSearchParams(old);
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  };
  return (
    <Page
      title={job.title}
      breadcrumb={crumbs}
      titleNode={<JobBadge state={state} />}
      actions={<RunActions job={job} listHref={list.href} />}
    >
      <Stale since={connected || !live ? null : run.dataUpdatedAt}>
        <div className={styles.head}>
          <Stat label={whereLabel(job.state)} value={whereValue(job, current)} />
          <Stat label="Elapsed" value={<Elapsed job={job} now={now} />} />
          {live && state !== 'paused' && (
            <Stat
              label={current === job ? 'Left' : 'Left in this stage'}
              value={remaining === null ? '–' : formatDuration(remaining)}
            />
          )}
          <Stat label="Last event" value={sign === null ? '–' : <Time at={sign} />} />
          <Stat label="Attempt" value={formatInteger(job.attempt)} />
          <Stat label="Seed" value={String(job.seed)} />
        </div>
        {state === 'stalled' && (
          <PartialNote>
            No event for {formatDuration(now - (sign ?? now))}, the last at {formatClock(sign ?? now)}.{' '}
            {list.noun === 'training'
              ? 'A large batch on a busy machine takes long; pausing takes effect after the update in progress, at a checkpoint.'
              : 'The run may wait for a slow model; pausing and resuming starts it again from its last step, and nothing finished is lost.'}
          </PartialNote>
        )}
        {job.state === 'pausing' && (
          <InfoNote>
            Nothing new is started; what is in flight is finished and kept. Resume takes the pause back,
            Cancel ends it at once.
          </InfoNote>
        )}
        {job.attempt > 1 && (
          <PartialNote>
            Attempt {job.attempt}: the host stopped in the middle before, and the {list.noun} went on from its
            last {list.noun === 'training' ? 'checkpoint' : 'committed step. Nothing finished was run again'}.
          </PartialNote>
        )}
        {job.error !== null && <ErrorState title={`The ${list.noun} failed`} error={job.error} />}
        <PipelineBar
          parent={children.length === 0 ? null : job}
          stages={parts}
          selected={stageId}
          now={now}
          sign={sign}
          onSelect={(next) => {
            set('stage', next);
          }}
        />
        <Tabs
          value={tab}
          mt={16}
          keepMounted={false}
          onChange={(next) => {
            set('tab', next === 'overview' ? null : next);
          }}
        >
          <Tabs.List mb={12}>
            <Tabs.Tab value="overview">Overview</Tabs.Tab>
            <Tabs.Tab value="log">Log</Tabs.Tab>
            <Tabs.Tab value="configuration">Configuration</Tabs.Tab>
          </Tabs.List>
          <RunTab
            tab={tab}
            job={job}
            stages={children}
            chosen={chosen}
            columns={parts.length + toCome.length}
            stageId={stageId}
            events={events.data ?? noEvents}
          />
        </Tabs>
      </Stale>
    </Page>
  );
}

function Elapsed({ job, now }: { job: Job; now: number }) {
  const elapsed = useElapsed(job, now);
  return job.startedAt === null ? '–' : formatDuration(elapsed);
}

/** A pipeline pauses with its stage, which knows what is in flight. */
function whereValue({ state, progress, startedAt }: Job, current: Job): string {
  if (state === 'pausing') return pausingWords(current.progress);
  if (progress !== null) return progress.phase;
  if (state === 'queued') return 'waiting for its turn';
  return startedAt === null ? 'the queue, before it began' : '–';
}

/** What the phase of a run says: where it is, or where it stands since it stopped. */
function whereLabel(state: JobState): string {
  if (state === 'pausing') return 'Pausing';
  if (state === 'paused') return 'Paused in';
  if (state === 'succeeded') return 'Ended with';
  if (state === 'cancelled' || state === 'failed') return 'Stopped in';
  return 'Now';
}
