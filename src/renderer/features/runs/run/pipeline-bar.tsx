import type { Job } from '#shared/schema/job.ts';
import { formatDuration, formatInteger, formatRate, sentence } from '../../../ui/format.ts';
import { elapsedMs, shownState } from '../../../ui/progress.ts';
import { JobBadge } from '../../../ui/status-badge.tsx';
import styles from './run.module.css';

function stageTitle(job: Job): string {
  return sentence((job.stage ?? job.title).replaceAll('-', ' '));
}

const order = ['demonstrations', 'branching', 'reflection', 'export'];

/** Stages that are still to come: the host makes their jobs one after the other, the bar has its final width from the start. */
export function stagesToCome(parent: Job | null, stages: readonly Job[]): string[] {
  const total = parent?.progress?.unit === 'stages' ? parent.progress.total : null;
  if (total === null || total <= stages.length) return [];
  const begun = new Set(stages.map(({ stage }) => stage));
  const last = order.findLastIndex((name) => begun.has(name));
  // The run may leave some out; the final ones are always there.
  return order.slice(last + 1).slice(-(total - stages.length));
}

/** One segment a stage: state, counts, rate. A click shows that stage alone; a second click all of them. */
export function PipelineBar({
  parent,
  stages,
  selected,
  now,
  sign,
  onSelect,
}: {
  /** The pipeline itself; null where the run is one stage. */
  parent: Job | null;
  stages: readonly Job[];
  selected: string | null;
  now: number;
  /** The run's last sign of life. */
  sign: number | null;
  onSelect: (jobId: string | null) => void;
}) {
  return (
    <div className={styles.pipeline} role="group" aria-label="Stages">
      {stages.map((stage, index) => {
        const { progress } = stage;
        const elapsed = elapsedMs(stage, now);
        const share =
          stage.state === 'succeeded' ? 1 : progress?.total ? Math.min(1, progress.done / progress.total) : 0;
        const rate =
          progress !== null && elapsed > 500 && progress.done > 0
            ? formatRate((progress.done * 1000) / elapsed, progress.unit)
            : '';
        const counts =
          progress === null
            ? 'not started'
            : progress.total === null
              ? `${formatInteger(progress.done)} ${progress.unit}`
              : `${formatInteger(progress.done)} / ${formatInteger(progress.total)} ${progress.unit}`;
        return (
          <button
            key={stage.jobId}
            type="button"
            className={styles.stage}
            aria-pressed={selected === stage.jobId}
            title={progress?.phase}
            onClick={() => {
              onSelect(selected === stage.jobId ? null : stage.jobId);
            }}
          >
            <span className={styles.stageTop}>
              <span className={styles.stageName}>
                {index + 1}. {stageTitle(stage)}
              </span>
              <span className={styles.spacer} />
              <JobBadge state={shownState(stage, now, sign)} />
            </span>
            <span className={styles.stageCounts}>
              <span>{counts}</span>
              <span>
                {stage.startedAt === null
                  ? ''
                  : [rate, formatDuration(elapsed)].filter((text) => text !== '').join(' · ')}
              </span>
            </span>
            <span className={styles.bar} data-state={stage.state} aria-hidden>
              <span style={{ width: `${String(share * 100)}%` }} />
            </span>
          </button>
        );
      })}
      {stagesToCome(parent, stages).map((name, index) => (
        <div key={name} className={`${styles.stage} ${styles.toCome}`}>
          <span className={styles.stageTop}>
            <span className={styles.stageName}>
              {stages.length + index + 1}. {sentence(name)}
            </span>
          </span>
          <span className={styles.stageCounts}>to come</span>
        </div>
      ))}
    </div>
  );
}
