import { Fragment } from 'react';
import type { EpisodeRow } from '#shared/schema/episode.ts';
import { formatCompact, formatInteger } from '../../ui/format.ts';
import { Time } from '../../ui/text.tsx';
import type { Column } from '../../ui/virtual-table.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import styles from './trajectories.module.css';

export const episodeColumns: readonly Column<EpisodeRow>[] = [
  { id: 'outcome', header: 'Outcome', width: '96px', cell: (row) => <OutcomeBadge episode={row} /> },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(140px, 1.9fr)',
    cell: (row) => row.instruction,
    title: (row) => row.instruction,
  },
  {
    id: 'type',
    header: 'Type',
    width: 'minmax(84px, 2fr)',
    cell: (row) => <Name text={row.taskType} dim />,
    title: (row) => row.taskType,
  },
  {
    id: 'world',
    header: 'World',
    width: 'minmax(96px, 1.3fr)',
    cell: (row) => <Name text={`${row.environmentId}, ${row.split}`} dim />,
    title: (row) => `${row.environmentId} ${row.environmentVersion}, ${row.split}`,
  },
  {
    id: 'policy',
    header: 'Policy',
    width: 'minmax(72px, 1.6fr)',
    cell: (row) => <Name text={row.policyLabel} />,
    title: (row) => `${row.policyLabel}, ${row.purpose}`,
  },
  {
    id: 'steps',
    header: 'Steps',
    width: 'var(--steps-track)',
    cell: (row) => <StepsBar steps={row.steps} invalid={row.invalidActions} />,
    title: (row) =>
      `${String(row.steps)} steps${row.invalidActions === 0 ? '' : `, ${String(row.invalidActions)} invalid`}`,
  },
  {
    id: 'reward',
    header: 'Reward',
    width: '48px',
    align: 'right',
    // What broke off has earned no reward that could be compared.
    cell: (row) =>
      row.status === 'abandoned' || row.status === 'failed' ? '' : formatReward(row.totalReward),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    width: '50px',
    align: 'right',
    cell: (row) => (row.completionTokens === 0 ? '' : formatCompact(row.completionTokens)),
    title: (row) =>
      `${formatInteger(row.completionTokens)} sampled, ${formatInteger(row.promptTokens)} of prompts, ${formatInteger(row.evaluatedPromptTokens)} evaluated`,
  },
  {
    id: 'started',
    header: 'Started',
    width: '76px',
    align: 'right',
    cell: (row) => <Time at={row.startedAt} />,
  },
];

/** A technical name, whole: in a narrow window it goes on in a second line, after `_`, `-` or `/`. */
function Name({ text, dim = false }: { text: string; dim?: boolean }) {
  const parts = text.split(/(?<=[_/-])/);
  return (
    <span className={dim ? `${styles.name} ${styles.dim}` : styles.name}>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}

/** The papers' step limit: bars of different episodes have one scale. */
const longest = 50;

/** Length of the episode, the share of invalid actions at its end. */
function StepsBar({ steps, invalid }: { steps: number; invalid: number }) {
  const width = (Math.min(steps, longest) / longest) * 44;
  const bad = steps === 0 ? 0 : width * Math.min(1, invalid / steps);
  return (
    <span className={styles.stepsBar}>
      <svg width="44" height="8" aria-hidden>
        <rect className={styles.barTrack} width="44" height="8" rx="2" />
        <rect className={styles.barSteps} width={width} height="8" rx="2" />
        {bad > 0 && <rect className={styles.barInvalid} x={width - bad} y="4" width={bad} height="4" />}
      </svg>
      <span className={styles.stepsCount}>{steps}</span>
      {invalid > 0 && <span className={styles.invalidCount}>{`${String(invalid)} invalid`}</span>}
    </span>
  );
}

function formatReward(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
