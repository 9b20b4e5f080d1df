import { memo, useDeferredValue } from 'react';
import { stringify } from 'yaml';
import type { Job, JobEvent } from '#shared/schema/job.ts';
import { isFinished } from '../../../ui/progress.ts';
import { Curves } from './curves.tsx';
import { NewestEpisodes } from './newest-episodes.tsx';
import { RunErrors } from './run-errors.tsx';
import { RunLog } from './run-log.tsx';
import { RunResult } from './run-result.tsx';
import { TrainingFacts } from './training-facts.tsx';
import styles from './run.module.css';

export const tabs = ['overview', 'log', 'configuration'] as const;
type TabName = (typeof tabs)[number];

interface TabProps {
  tab: TabName;
  job: Job;
  stages: readonly Job[];
  /** The stages that are looked at: all, or the one chosen in the bar. */
  chosen: readonly Job[];
  /** Segments of the bar, those to come included. */
  columns: number;
  stageId: string | null;
  events: readonly JobEvent[];
}

/**
 * What lies below the bar. It follows the tabs and the stream when there is time: the press of a key is shown first, then the
 * charts and the log are drawn.
 */
export function RunTab(props: TabProps) {
  const later = useDeferredValue(props);
  return <TabBody {...later} />;
}

const TabBody = memo(function TabBody({ tab, job, stages, chosen, columns, stageId, events }: TabProps) {
  if (tab === 'log') return <RunLog jobId={job.jobId} stages={stages} stageId={stageId} />;
  if (tab === 'configuration')
    return <pre className={styles.code}>{stringify(job.spec, { lineWidth: 0 })}</pre>;
  const live = !isFinished(job.state);
  if (job.kind === 'train') {
    return (
      <>
        <TrainingFacts job={job} events={events} live={live} />
        <Curves job={job} stages={chosen} live={live} />
        <RunErrors events={events} />
      </>
    );
  }
  return (
    <>
      <RunResult jobs={chosen} columns={columns} live={live} />
      <Curves job={job} stages={chosen} live={live} />
      <NewestEpisodes stages={chosen} live={live} />
      <RunErrors events={stageId === null ? events : events.filter((event) => event.jobId === stageId)} />
    </>
  );
});
