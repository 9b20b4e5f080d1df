/** Job kind `demonstrations`: collects D_expert and keeps what is proved. Its result names the episodes that the next stages read. */
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Episode } from '#shared/schema/episode.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { CoreServices } from '#core/services.ts';
import { planId, runEpisode, runEpisodes, runPool, selectTasks, solverPolicy } from '#core/agents/index.ts';
import type { DemonstrationsResult } from '#core/early-experience/demonstrations-of.ts';
import { readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import { importedPolicy, proveDemonstration } from '#core/early-experience/demonstrations.ts';
import type { ImportedDemonstration } from '#core/early-experience/import-demonstrations.ts';
import { readDemonstrations } from '#core/early-experience/import-demonstrations.ts';
import { expertPromptShortage } from '#core/early-experience/prompt-limit.ts';
import type { DemonstrationsSpec } from '#core/early-experience/spec.ts';
import { demonstrationsSpecSchema } from '#core/early-experience/spec.ts';
import { splitProblem } from '#core/early-experience/training-split.ts';

export function createDemonstrationsJob(services: CoreServices): JobDefinition<DemonstrationsSpec> {
  return defineJob<DemonstrationsSpec>({
    kind: 'demonstrations',
    spec: demonstrationsSpecSchema,
    slots: ['light'],
    run: (context) => demonstrations(context, services),
  });
}

type Context = JobContext<DemonstrationsSpec>;

async function demonstrations(context: Context, services: CoreServices): Promise<DemonstrationsResult> {
  const { run } = context.spec;
  const problem = splitProblem(run);
  if (problem !== null) throw new AppError({ code: 'CONFIG_INVALID', message: problem });
  const provider = services.environments.get(run.environment.id);
  const shortage = await expertPromptShortage(provider, run, { signal: context.signal });
  if (shortage !== null) {
    const { message, ...data } = shortage;
    context.emit({ type: 'prompt-limit-expected', level: 'warn', message, data });
  }
  const { ids: collected, refused } = await collect(context, services, provider);
  const { kept, rejected } = await prove(collected, context, services, provider);
  if (kept.length === 0) {
    throw new AppError({
      code: 'ENVIRONMENT_DATA_INVALID',
      message: `None of ${String(collected.length)} demonstrations could be proved to succeed; the log names each reason. Nothing was branched.`,
    });
  }
  const steps = kept.reduce((sum, episode) => sum + episode.steps, 0);
  return {
    episodeIds: kept.map(({ episodeId }) => episodeId),
    demonstrations: kept.length,
    steps,
    rejected: refused + rejected,
  };
}

interface Collected {
  ids: EpisodeId[];
  /** Lines of an import that are no demonstration of this split. */
  refused: number;
}

async function collect(
  context: Context,
  services: CoreServices,
  provider: EnvironmentProvider,
): Promise<Collected> {
  const { demonstrations: source } = context.spec.run;
  switch (source.source) {
    case 'solver':
      return { ids: await solve(context, services, provider), refused: 0 };
    case 'recorded':
      return { ids: recorded(context, services), refused: 0 };
    case 'import':
      return imported(context, services, provider, source.file);
  }
}

async function solve(
  context: Context,
  services: CoreServices,
  provider: EnvironmentProvider,
): Promise<EpisodeId[]> {
  const { run } = context.spec;
  const plans = selectTasks(provider, run.environment, run.seed).map((task) => {
    return { task, purpose: 'demonstration' as const, jobId: context.jobId, seed: run.seed, rolloutIndex: 0 };
  });
  const world = { provider, policy: solverPolicy(), limits: run.limits };
  await runEpisodes(plans, world, context, services, { parallel: run.parallel, phase: 'Demonstrating' });
  // In the tasks' order, whatever finished first.
  return plans.map((plan) => planId(plan, world)).filter((id) => services.store.episodes.get(id) !== null);
}

/** Successful games that a person played, oldest first. */
function recorded({ spec: { run } }: Context, { store }: CoreServices): EpisodeId[] {
  const ids: EpisodeId[] = [];
  const { id: environmentId, split, tasks, taskTypes } = run.environment;
  for (let cursor: string | null = null; ids.length < tasks;) {
    const page = store.episodes.list(
      { environmentId, split, purpose: 'human', status: 'finished', success: true },
      'oldest',
      { cursor, limit: 200 },
    );
    const wanted = page.items.filter(
      ({ taskType }) => taskTypes.length === 0 || taskTypes.includes(taskType),
    );
    ids.push(...wanted.map(({ episodeId }) => episodeId));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  if (ids.length > 0) return ids.slice(0, tasks);
  throw new AppError({
    code: 'NOT_FOUND',
    message: `No successful game of ${environmentId} (${split}) was recorded. Play one on the Environments page, or choose the solver.`,
  });
}

async function imported(
  context: Context,
  services: CoreServices,
  provider: EnvironmentProvider,
  file: string,
): Promise<Collected> {
  const { run } = context.spec;
  const ids: EpisodeId[] = [];
  let solved = 0;
  let refused = 0;
  const reject = (line: number, reason: string): void => {
    refused += 1;
    context.emit({
      type: 'demonstration-rejected',
      level: 'warn',
      message: `${file}, line ${String(line)}: ${reason}.`,
      data: { line, reason },
    });
  };
  for await (const read of readDemonstrations(file, { signal: context.signal })) {
    if (context.pauseRequested) context.pausePoint();
    if (solved >= run.environment.tasks) break;
    if (!read.ok) {
      reject(read.rejected.line, read.rejected.reason);
      continue;
    }
    const { demonstration } = read;
    const task = taskOf(provider, demonstration);
    if (task === null) reject(demonstration.line, `the environment has no task ${demonstration.taskId}`);
    else if (task.split !== run.environment.split) {
      reject(
        demonstration.line,
        `task ${task.taskId} belongs to the split ${task.split}, not ${run.environment.split}`,
      );
    } else {
      const policy = importedPolicy(demonstration, file);
      const limits = { ...run.limits, maxSteps: demonstration.actions.length };
      const plan = {
        task,
        purpose: 'demonstration' as const,
        jobId: context.jobId,
        seed: run.seed,
        rolloutIndex: 0,
      };
      const { store, clock, log } = services;
      const world = { provider, policy, limits, store, clock, log };
      const id = planId(plan, world);
      if (ids.includes(id)) reject(demonstration.line, 'the same demonstration came before');
      else {
        if (services.store.episodes.finished([id]).size === 0) {
          await runEpisode(plan, world, { signal: context.signal });
        }
        ids.push(id);
        solved += services.store.episodes.get(id)?.success === true ? 1 : 0;
        context.progress({
          done: solved,
          total: run.environment.tasks,
          unit: 'demonstrations',
          phase: 'Importing',
        });
      }
    }
  }
  return { ids, refused };
}

function taskOf(provider: EnvironmentProvider, { taskId }: ImportedDemonstration) {
  try {
    return provider.getTask(taskId);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}

/** Executes each one again, in a fresh session. */
async function prove(
  ids: readonly EpisodeId[],
  context: Context,
  { store, log }: CoreServices,
  provider: EnvironmentProvider,
): Promise<{ kept: Episode[]; rejected: number }> {
  const proved = new Map<EpisodeId, Episode>();
  let done = 0;
  const work = async (episodeId: EpisodeId, signal: AbortSignal): Promise<void> => {
    const demonstration = readDemonstration(store, episodeId);
    const { episode } = demonstration;
    const proof = await proveDemonstration(provider, demonstration, { log, signal });
    store.addRealSteps(episode.split, proof.realSteps);
    if (proof.ok) proved.set(episodeId, episode);
    else {
      context.emit({
        type: 'demonstration-rejected',
        level: 'warn',
        message: `Task ${episode.taskId}: ${proof.reason}.`,
        data: { episodeId, taskId: episode.taskId, reason: proof.reason },
      });
    }
    done += 1;
    context.progress({ done, total: ids.length, unit: 'demonstrations', phase: 'Proving' });
  };
  const { parallel } = context.spec.run;
  await runPool(ids, { parallel, signal: context.signal, shouldStop: () => context.pauseRequested }, work);
  context.pausePoint();
  const kept = ids.flatMap((id) => proved.get(id) ?? []);
  return { kept, rejected: ids.length - kept.length };
}
