import type { CSSProperties } from 'react';
import type { Job } from '#shared/schema/job.ts';
import { formatDuration, formatInteger, formatPercent, formatRate, sentence } from '../../../ui/format.ts';
import { isFinished, shownState } from '../../../ui/progress.ts';
import { JobBadge } from '../../../ui/status-badge.tsx';
import { useElapsed } from '../../../ui/use-elapsed.ts';
import { rowsOf } from './result-counts.ts';
import { stageTitle } from './stage-title.ts';
import styles from './run.module.css';

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

/** How much of what a stage has made. An export makes rows; the demonstrations that it reads only say how far it is. */
function countsOf({ kind, state, progress, result }: Job): { text: string; made: number; unit: string } {
  if (progress === null) return { text: 'not started', made: 0, unit: '' };
  const { done, total, unit } = progress;
  if (kind === 'export') {
    const rows = rowsOf(result).reduce((sum, [, count]) => sum + count, 0);
    if (result === null && isFinished(state)) return { text: 'no rows written', made: 0, unit: 'rows' };
    return result === null
      ? { text: `writing rows, ${formatPercent(done, total ?? 0)}`, made: 0, unit: 'rows' }
      : { text: `${formatInteger(rows)} ${rows === 1 ? 'row' : 'rows'}`, made: rows, unit: 'rows' };
  }
  // A pipeline stands here alone only until its first stage has begun.
  if (unit === 'stages') return { text: `${formatInteger(total ?? 0)} stages to come`, made: 0, unit: '' };
  const of = total === null ? '' : ` / ${formatInteger(total)}`;
  return { text: `${formatInteger(done)}${of} ${unit}`, made: done, unit };
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
  const toCome = stagesToCome(parent, stages);
  return (
    <div
      className={styles.pipeline}
      role="group"
      aria-label="Stages"
      style={{ '--stages': stages.length + toCome.length } as CSSProperties}
    >
      {stages.map((stage, index) => (
        <StageCard
          key={stage.jobId}
          stage={stage}
          number={index + 1}
          pressed={selected === stage.jobId}
          now={now}
          sign={sign}
          onPress={() => {
            onSelect(selected === stage.jobId ? null : stage.jobId);
          }}
        />
      ))}
      {toCome.map((name, index) => (
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

function StageCard({
  stage,
  number,
  pressed,
  now,
  sign,
  onPress,
}: {
  stage: Job;
  number: number;
  pressed: boolean;
  now: number;
  sign: number | null;
  onPress: () => void;
}) {
  const { progress } = stage;
  const elapsed = useElapsed(stage, now);
  const share =
    stage.state === 'succeeded' ? 1 : progress?.total ? Math.min(1, progress.done / progress.total) : 0;
  const { text, made, unit } = countsOf(stage);
  const rate = elapsed > 500 && made > 0 ? formatRate((made * 1000) / elapsed, unit) : '';
  return (
    <button
      type="button"
      className={styles.stage}
      aria-pressed={pressed}
      title={progress?.phase}
      onClick={onPress}
    >
      <span className={styles.stageTop}>
        <span className={styles.stageName}>
          {number}. {stageTitle(stage)}
        </span>
        <JobBadge state={shownState(stage, now, sign)} />
      </span>
      <span className={styles.stageCounts}>
        <span>{text}</span>
        {stage.startedAt !== null && <span>{formatDuration(elapsed)}</span>}
        {rate !== '' && <span className={styles.stageRate}>{rate}</span>}
      </span>
      <span className={styles.bar} data-state={stage.state} aria-hidden>
        <span style={{ width: `${String(share * 100)}%` }} />
      </span>
    </button>
  );
}
