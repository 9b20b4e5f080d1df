import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { EpisodeRow } from '#shared/schema/episode.ts';
import type { Job } from '#shared/schema/job.ts';
import { isInfrastructureError } from '#shared/errors.ts';
import { orpc } from '../../../rpc/client.ts';
import { formatInteger } from '../../../ui/format.ts';
import { ErrorState, LoadingState } from '../../../ui/states.tsx';
import { MeaningBadge } from '../../../ui/status-badge.tsx';
import type { Meaning } from '../../../ui/status-badge.tsx';
import { episodesOf } from './result-counts.ts';
import { StepStrip } from '../../../ui/step-strip.tsx';
import type { StepCell } from '../../../ui/step-strip.tsx';
import { Time } from '../../../ui/text.tsx';
import styles from './run.module.css';

const shown = 12;

interface StepFacts {
  action: string;
  valid: boolean;
  parseStatus: string;
  terminated: boolean;
  error: { code: Parameters<typeof isInfrastructureError>[0] } | null;
}

/** Real teal, an expert's amber; the step that reached the goal, the ones that failed and the ones that broke stand out. */
export function cellsOf(episode: EpisodeRow, steps: readonly StepFacts[]): StepCell[] {
  const base: Meaning = episode.purpose === 'demonstration' ? 'expert' : 'real';
  return steps.map((step, index) => {
    const last = index === steps.length - 1;
    const meaning: Meaning =
      step.error !== null && isInfrastructureError(step.error.code)
        ? 'error'
        : !step.valid || step.parseStatus !== 'ok'
          ? 'invalid'
          : last && episode.success
            ? 'success'
            : base;
    return {
      meaning,
      label: `${String(index)} · ${step.action === '' ? '(no action)' : step.action}`,
      href: `/trajectories/${encodeURIComponent(episode.episodeId)}?step=${String(index)}`,
    };
  });
}

function outcome(episode: EpisodeRow): { meaning: Meaning; word: string } {
  if (episode.error !== null || episode.status === 'failed')
    return { meaning: 'error', word: episode.error?.code.toLowerCase().replaceAll('_', ' ') ?? 'failed' };
  if (episode.status === 'running') return { meaning: 'real', word: 'running' };
  if (episode.status === 'abandoned') return { meaning: 'failure', word: 'abandoned' };
  return episode.success
    ? { meaning: 'success', word: 'success' }
    : { meaning: 'failure', word: episode.endReason ?? 'no success' };
}

/** The newest episodes of the run, a line each: hover a cell for its action, click it for its step. */
export function NewestEpisodes({ stages, live }: { stages: readonly Job[]; live: boolean }) {
  const lists = useQueries({
    queries: stages.map((stage) => ({
      ...orpc.episodes.list.queryOptions({ input: { limit: shown, filter: { jobId: stage.jobId } } }),
      placeholderData: keepPreviousData,
      refetchInterval: live ? 1500 : (false as const),
    })),
  });
  const failed = lists.find(({ isError }) => isError);
  const episodes = lists
    .flatMap(({ data }) => data?.items ?? [])
    .toSorted((left, right) => right.startedAt - left.startedAt)
    .slice(0, shown);
  const total = lists.reduce((sum, { data }) => sum + (data?.total ?? 0), 0);
  const known = stages.reduce(
    (sum, { result }, index) =>
      sum + Math.max(0, episodesOf(result) - (lists[index]?.data?.total ?? Number.POSITIVE_INFINITY)),
    0,
  );
  const withEpisodes = stages.filter((_, index) => (lists[index]?.data?.items.length ?? 0) > 0);
  const only = withEpisodes.length === 1 ? withEpisodes[0] : undefined;
  return (
    <section className={styles.section} aria-label="Newest episodes">
      <div className={styles.sectionHead}>
        <h2>Newest episodes</h2>
        <span className={styles.dim}>
          {total > 0 ? formatInteger(total) : ''}
          {known > 0 && `${total > 0 ? ' acted here, ' : ''}${formatInteger(known)} known from earlier runs`}
        </span>
        <span className={styles.spacer} />
        {only !== undefined && (
          <Link href={`/trajectories?run=${encodeURIComponent(only.jobId)}`}>All episodes of this run</Link>
        )}
      </div>
      {failed !== undefined && <ErrorState error={failed.error} />}
      {lists.some(({ isPending }) => isPending) && episodes.length === 0 ? (
        <LoadingState rows={4} />
      ) : episodes.length === 0 ? (
        <p className={styles.dim}>
          {live
            ? 'The first episode appears here when it has started.'
            : 'This stage acted in no episode of its own.'}
        </p>
      ) : (
        <div className={styles.episodes}>
          {episodes.map((episode) => (
            <EpisodeLine key={episode.episodeId} episode={episode} />
          ))}
        </div>
      )}
    </section>
  );
}

function EpisodeLine({ episode }: { episode: EpisodeRow }) {
  const steps = useQuery({
    ...orpc.episodes.get.queryOptions({ input: { episodeId: episode.episodeId } }),
    staleTime: episode.status === 'running' ? 1000 : 5 * 60_000,
    refetchInterval: episode.status === 'running' ? 1500 : false,
  });
  const { meaning, word } = outcome(episode);
  // The row of a running episode is counted when it ends; its steps are stored as they happen.
  const count = Math.max(episode.steps, steps.data?.steps.length ?? 0);
  const href = `/trajectories/${encodeURIComponent(episode.episodeId)}`;
  return (
    <div className={styles.episode}>
      <MeaningBadge meaning={meaning} word={word} />
      <Link href={href} className={styles.cut} title={episode.instruction}>
        {episode.instruction}
      </Link>
      <span className={styles.cut}>
        <StepStrip
          cells={cellsOf(episode, steps.data?.steps ?? [])}
          limit={32}
          label={`${String(count)} steps of ${episode.instruction}`}
        />
      </span>
      <span className={styles.right}>
        {formatInteger(count)} {count === 1 ? 'step' : 'steps'}
      </span>
      <span className={`${styles.right} ${styles.dim}`}>
        <Time at={episode.startedAt} />
      </span>
    </div>
  );
}
