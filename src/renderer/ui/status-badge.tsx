import {
  IconAlertTriangle,
  IconArrowFork,
  IconBan,
  IconCheck,
  IconCircleDashed,
  IconClockPause,
  IconCloud,
  IconHourglass,
  IconMinus,
  IconPlayerPause,
  IconPlayerPlay,
  IconSchool,
  IconWorld,
  IconX,
} from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import type { CSSProperties } from 'react';
import type { JobState } from '#shared/schema/job.ts';
import styles from './status-badge.module.css';

/** The fixed meanings of gui.md, each with its colour, its shape and its word. */
export const meanings = {
  real: { icon: IconWorld, word: 'real' },
  dream: { icon: IconCloud, word: 'dream' },
  expert: { icon: IconSchool, word: 'expert' },
  alternative: { icon: IconArrowFork, word: 'alternative' },
  success: { icon: IconCheck, word: 'success' },
  failure: { icon: IconMinus, word: 'failure' },
  invalid: { icon: IconX, word: 'invalid' },
  error: { icon: IconAlertTriangle, word: 'error' },
} satisfies Record<string, { icon: Icon; word: string }>;
export type Meaning = keyof typeof meanings;

function style(color: string, soft: string): CSSProperties {
  return { '--badge-color': color, '--badge-soft': soft } as CSSProperties;
}

export function MeaningBadge({
  meaning,
  word,
  plain = false,
}: {
  meaning: Meaning;
  /** Another word than the meaning's own, e.g. `refill`. */
  word?: string;
  plain?: boolean;
}) {
  const { icon: Shape, word: own } = meanings[meaning];
  return (
    <span
      className={plain ? `${styles.badge} ${styles.plain}` : styles.badge}
      style={style(`var(--dd-${meaning})`, `var(--dd-${meaning}-soft)`)}
    >
      <Shape size={13} stroke={2} aria-hidden />
      {word ?? own}
    </span>
  );
}

/** A job's state as one sees it; `stalled` is a running job that has said nothing for 30 s. */
export type ShownState = JobState | 'stalled';

const jobLooks: Record<ShownState, { icon: Icon; color: string; soft: string; word: string }> = {
  queued: { icon: IconCircleDashed, color: '--dd-text-dim', soft: '--dd-failure-soft', word: 'queued' },
  running: { icon: IconPlayerPlay, color: '--dd-accent-text', soft: '--dd-accent-soft', word: 'running' },
  pausing: {
    icon: IconClockPause,
    color: '--dd-alternative',
    soft: '--dd-alternative-soft',
    word: 'pausing…',
  },
  paused: { icon: IconPlayerPause, color: '--dd-alternative', soft: '--dd-alternative-soft', word: 'paused' },
  cancelling: { icon: IconBan, color: '--dd-text-dim', soft: '--dd-failure-soft', word: 'cancelling…' },
  cancelled: { icon: IconBan, color: '--dd-text-dim', soft: '--dd-failure-soft', word: 'cancelled' },
  succeeded: { icon: IconCheck, color: '--dd-success', soft: '--dd-success-soft', word: 'succeeded' },
  failed: { icon: IconAlertTriangle, color: '--dd-error', soft: '--dd-error-soft', word: 'failed' },
  stalled: { icon: IconHourglass, color: '--dd-invalid', soft: '--dd-invalid-soft', word: 'stalled' },
};

export function JobBadge({ state }: { state: ShownState }) {
  const look = jobLooks[state];
  const Shape = look.icon;
  return (
    <span
      className={styles.badge}
      style={style(`var(${look.color})`, `var(${look.soft})`)}
      data-state={state}
    >
      <Shape size={13} stroke={2} aria-hidden />
      {look.word}
    </span>
  );
}
