import {
  IconBolt,
  IconCircleCheck,
  IconCircleMinus,
  IconClockStop,
  IconPlayerPlay,
  IconPlugConnectedX,
} from '@tabler/icons-react';
import type { EpisodeRow } from '#shared/schema/episode.ts';
import { outcomeOf } from './outcome.ts';
import type { OutcomeKind } from './outcome.ts';
import styles from './trajectories.module.css';

const icons = {
  running: IconPlayerPlay,
  success: IconCircleCheck,
  failure: IconCircleMinus,
  truncated: IconClockStop,
  abandoned: IconPlugConnectedX,
  error: IconBolt,
} satisfies Record<OutcomeKind, typeof IconBolt>;

export function OutcomeBadge({
  episode,
}: {
  episode: Parameters<typeof outcomeOf>[0] & Pick<EpisodeRow, 'error'>;
}) {
  const outcome = outcomeOf(episode);
  const { error } = episode;
  const Icon = icons[outcome.kind];
  return (
    <span
      className={styles.outcome}
      data-kind={outcome.kind}
      title={error === null ? undefined : `${error.code}: ${error.message}`}
    >
      <Icon size={14} stroke={1.8} aria-hidden />
      {outcome.label}
    </span>
  );
}
