/** Job kind `rollout`: a policy acts in many tasks at once. Finished episodes are skipped on resume and never stored twice. */
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import { rolloutRunSchema } from '#shared/schema/run.ts';
import type { RolloutRun } from '#shared/schema/run.ts';
import { sentence } from '#shared/sentence.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { CoreServices } from '#core/services.ts';
import type { EpisodePlan, EpisodeWorld } from '#core/agents/episode-loop.ts';
import { planId, runEpisode } from '#core/agents/episode-loop.ts';
import { tellingOfDeaths } from '#core/agents/interruptions.ts';
import { loadPolicy } from '#core/agents/load-policy.ts';
import { runPool } from '#core/agents/pool.ts';
import { promptShortage } from '#core/agents/prompt-forecast.ts';
import { selectTasks } from '#core/agents/select-tasks.ts';
import { EpisodeTally } from '#core/agents/tally.ts';

export function createRolloutJob(services: CoreServices): JobDefinition<RolloutRun> {
  return defineJob<RolloutRun>({
    kind: 'rollout',
    spec: rolloutRunSchema,
    slots: ['compute'],
    run: (context) => rollout(context, services),
  });
}

async function rollout(context: JobContext<RolloutRun>, services: CoreServices) {
  const { spec: run, signal } = context;
  const provider = services.environments.get(run.environment.id);
  const tasks = selectTasks(provider, run.environment, run.seed);
  context.progress({
    done: 0,
    total: tasks.length * run.rolloutsPerTask,
    unit: 'episodes',
    phase: 'Loading the model',
  });
  const loaded = await loadPolicy(services.models, run.policy, {
    limits: run.limits,
    parallel: Math.min(run.parallel, tasks.length * run.rolloutsPerTask),
    threads: services.store.catalogue.settings().threads,
    signal,
  });
  try {
    const contextTokens = loaded.model?.info.facts?.contextLength;
    const shortage = await promptShortage(provider, run, { contextTokens, signal });
    if (shortage !== null) {
      const { message, ...data } = shortage;
      context.emit({ type: 'prompt-limit-expected', level: 'warn', message, data });
    }
    const plans = tasks.flatMap((task) =>
      Array.from({ length: run.rolloutsPerTask }, (_, rolloutIndex): EpisodePlan => {
        return { task, purpose: 'rollout', jobId: context.jobId, seed: run.seed, rolloutIndex };
      }),
    );
    const world = { provider, policy: loaded.policy, limits: run.limits };
    const tally = await tellingOfDeaths(context, services.models, () =>
      runEpisodes(plans, world, context, services, { parallel: run.parallel, phase: 'Acting' }),
    );
    return tally.result();
  } finally {
    await loaded.release();
  }
}

/**
 * Plays what is not finished yet, in a bounded pool, with progress, metrics and one event an episode. Returns only when all is
 * done: a pause ends the job's run at `pausePoint`.
 *
 * @throws AppError the last failure, when every episode failed
 */
export async function runEpisodes(
  plans: readonly EpisodePlan[],
  world: Pick<EpisodeWorld, 'provider' | 'policy' | 'limits'>,
  context: JobContext<unknown>,
  { store, clock, log }: Pick<CoreServices, 'store' | 'clock' | 'log'>,
  options: { parallel: number; phase: string },
): Promise<EpisodeTally> {
  const ids = new Map<EpisodeId, EpisodePlan>(plans.map((plan) => [planId(plan, world), plan]));
  const finished = store.episodes.finished([...ids.keys()]);
  const tally = new EpisodeTally();
  for (const episodeId of finished) {
    const episode = store.episodes.get(episodeId);
    // After a pause these are the job's own.
    if (episode?.jobId === context.jobId) tally.add(episode);
    else if (episode !== null) tally.addReused(episode);
  }
  if (tally.reused > 0) {
    context.emit({
      type: 'episodes-reused',
      message: `${String(tally.reused)} of ${String(ids.size)} episodes were finished before and count here too.`,
      data: { reused: tally.reused },
    });
  }
  let inFlight = 0;
  const report = (): void => {
    const { phase } = options;
    context.progress({ done: tally.episodes, total: ids.size, unit: 'episodes', inFlight, phase });
  };
  report();
  const commit = (episode: Episode, steps: readonly Step[], write: () => void): void => {
    if (episode.status !== 'abandoned') {
      tally.add(episode);
      tally.report(context, episode, steps);
    }
    context.commitStep({ episodes: tally.episodes }, write);
    report();
  };
  const onRestart: EpisodeWorld['onRestart'] = ({ task }, { steps, error }) => {
    const kept =
      steps === 0 ? '' : ` Its ${String(steps)} ${steps === 1 ? 'step is' : 'steps are'} kept as abandoned.`;
    context.emit({
      type: 'episode-restarted',
      level: 'warn',
      message: `${task.instruction}: ${error.code} broke the episode off; it is begun again from its start.${kept}`,
      data: { taskId: task.taskId, steps, code: error.code, reason: error.message },
    });
  };
  const waiting = [...ids].filter(([episodeId]) => !finished.has(episodeId)).map(([, plan]) => plan);
  await runPool(
    waiting,
    {
      parallel: options.parallel,
      signal: context.signal,
      shouldStop: () => context.pauseRequested,
      onActive: (active) => {
        inFlight = active;
        report();
      },
    },
    async (plan, signal) => {
      // Who watches the job is told of each step too; the engine merges what comes faster than it is looked at.
      const told = { commit, onStored: report, onRestart };
      await runEpisode(plan, { ...world, ...told, store, clock, log }, { signal });
    },
  );
  context.pausePoint();
  if (tally.episodes > 0 && tally.failed === tally.episodes && tally.lastError !== null) {
    throw new AppError({
      code: tally.lastError.code,
      message: `All ${String(tally.failed)} episodes failed; the last one: ${sentence(tally.lastError.message)} They are stored and not scored.`,
      data: tally.lastError.data,
    });
  }
  return tally;
}
