/** Job kind `demonstrations`: collects D_expert and keeps what is proved. Its result names the episodes that the next stages read. */
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Episode } from '#shared/schema/episode.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { CoreServices } from '#core/services.ts';
import {
  planId,
  runEpisode,
  runEpisodes,
  runPool,
  rolloutIndexOf,
  selectTasks,
  solverPolicy,
  withDeadline,
} from '#core/agents/index.ts';
import type { DemonstrationsResult, Refusal } from '#core/early-experience/demonstrations-of.ts';
import { readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import { importedPolicy, proveDemonstration } from '#core/early-experience/demonstrations.ts';
import { importedLines } from '#core/early-experience/import-lines.ts';
import { expertPromptShortage } from '#core/early-experience/prompt-limit.ts';
import type { DemonstrationsSpec } from '#core/early-experience/spec.ts';
import { demonstrationsSpecSchema } from '#core/early-experience/spec.ts';
import { recordedGames } from '#core/early-experience/recorded-games.ts';
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
  const collected = await collect(context, services, provider);
  const { kept, refusals } = await prove(collected, context, services, provider);
  if (kept.length === 0) throw nothingProved(collected, refusals);
  const steps = kept.reduce((sum, episode) => sum + episode.steps, 0);
  return {
    episodeIds: kept.map(({ episodeId }) => episodeId),
    demonstrations: kept.length,
    steps,
    rejected: refusals.length,
    refusals: refusals.slice(0, LISTED_REFUSALS),
  };
}

/** Of the result and the manifest; the events name all. */
const LISTED_REFUSALS = 1000;

interface Collected {
  ids: EpisodeId[];
  /** Lines of an import that are no demonstration of this split. */
  refusals: Refusal[];
  /** Of an import: where each came from. */
  lines: ReadonlyMap<EpisodeId, number>;
  file: string | null;
}

function nothingProved({ ids, file }: Collected, refusals: readonly Refusal[]): AppError {
  const what =
    file === null ? `${String(ids.length)} demonstrations` : `${String(refusals.length)} lines of ${file}`;
  const first = refusals.slice(0, 3).map((refusal) => `${placeOf(refusal)}: ${refusal.reason}`);
  return new AppError({
    code: file === null ? 'ENVIRONMENT_DATA_INVALID' : 'FILE_INVALID',
    message:
      refusals.length === 0
        ? `There is no demonstration${file === null ? '' : ` in ${file}`}. Nothing was branched.`
        : `None of ${what} could be proved to succeed. Nothing was branched. ${first.join('; ')}${refusals.length > first.length ? `; and ${String(refusals.length - first.length)} more, each in the events of the job` : ''}.`,
    data: { file, rejected: refusals.length },
  });
}

function placeOf({ line, taskId }: Refusal): string {
  if (line === null) return `Task ${taskId ?? ''}`;
  return `line ${String(line)}${taskId === null ? '' : `, task ${taskId}`}`;
}

/** Tells of one that is left out, by file and line where it has them. */
function refuse(
  { emit }: Context,
  file: string | null,
  refusal: Refusal,
  data: Record<string, string> = {},
): Refusal {
  const { line, taskId, reason } = refusal;
  emit({
    type: 'demonstration-rejected',
    level: 'warn',
    message: `${file === null ? '' : `${file}, `}${placeOf(refusal)}: ${reason}.`,
    data: { ...data, line, taskId, reason },
  });
  return refusal;
}

async function collect(
  context: Context,
  services: CoreServices,
  provider: EnvironmentProvider,
): Promise<Collected> {
  const { demonstrations: source } = context.spec.run;
  const own = { refusals: [], lines: new Map<EpisodeId, number>(), file: null };
  switch (source.source) {
    case 'solver':
      return { ids: await solve(context, services, provider), ...own };
    case 'recorded':
      return { ids: recorded(context, services), ...own };
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
  const ids = plans.map((plan) => planId(plan, world));
  const stored = services.store.episodes.stored(ids);
  return ids.filter((id) => stored.has(id));
}

/** Successful games that a person played, oldest first. */
function recorded({ spec: { run } }: Context, { store }: CoreServices): EpisodeId[] {
  const ids: EpisodeId[] = [];
  const { id: environmentId, split, tasks, taskTypes } = run.environment;
  for (let cursor: string | null = null; ids.length < tasks;) {
    const page = store.episodes.list(recordedGames(environmentId, split), 'oldest', { cursor, limit: 200 });
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
    message: `No successful game of ${environmentId} (${split}) was recorded. Play one of its ${split} tasks on the Environments page, or choose the solver.`,
  });
}

async function imported(
  context: Context,
  services: CoreServices,
  provider: EnvironmentProvider,
  file: string,
): Promise<Collected> {
  const { run } = context.spec;
  const { store, clock, log } = services;
  const lines = new Map<EpisodeId, number>();
  const refusals: Refusal[] = [];
  let solved = 0;
  const { signal } = context;
  for await (const read of importedLines(provider, run.environment.split, file, { signal })) {
    if (context.pauseRequested) context.pausePoint();
    if (solved >= run.environment.tasks) break;
    if (!read.ok) {
      refusals.push(refuse(context, file, { ...read.rejected, taskId: null }));
      continue;
    }
    const { demonstration, task } = read;
    // Its own list ends it, or the world.
    const limits = { ...run.limits, maxSteps: null };
    const plan = {
      task,
      purpose: 'demonstration' as const,
      jobId: context.jobId,
      seed: run.seed,
      rolloutIndex: rolloutIndexOf(demonstration.actions, demonstration.thoughts),
    };
    const world = { provider, policy: importedPolicy(demonstration), limits, store, clock, log };
    const id = planId(plan, world);
    if (store.episodes.finished([id]).size === 0) await runEpisode(plan, world, { signal });
    lines.set(id, demonstration.line);
    solved += store.episodes.get(id)?.success === true ? 1 : 0;
    context.progress({
      done: solved,
      total: run.environment.tasks,
      unit: 'demonstrations',
      phase: 'Importing',
    });
  }
  return { ids: [...lines.keys()], refusals, lines, file };
}

/** Executes each one again, in a fresh session. */
async function prove(
  { ids, refusals: before, lines, file }: Collected,
  context: Context,
  { store, log }: CoreServices,
  provider: EnvironmentProvider,
): Promise<{ kept: Episode[]; refusals: Refusal[] }> {
  const proved = new Map<EpisodeId, Episode>();
  const refused = new Map<EpisodeId, Refusal>();
  let done = 0;
  const work = async (episodeId: EpisodeId, signal: AbortSignal): Promise<void> => {
    const demonstration = readDemonstration(store, episodeId);
    const { episode } = demonstration;
    const what = `The proof of the demonstration of ${episode.taskId}`;
    const { episodeTimeoutMs: ms } = context.spec.run.limits;
    const proof = await withDeadline({ what, ms, signal }, (timed) =>
      proveDemonstration(provider, demonstration, { log, signal: timed }),
    );
    store.addRealSteps(episode.split, proof.realSteps);
    if (proof.ok) proved.set(episodeId, episode);
    else {
      const refusal = { line: lines.get(episodeId) ?? null, taskId: episode.taskId, reason: proof.reason };
      refused.set(episodeId, refuse(context, file, refusal, { episodeId }));
    }
    done += 1;
    context.progress({ done, total: ids.length, unit: 'demonstrations', phase: 'Proving' });
  };
  const { parallel } = context.spec.run;
  await runPool(ids, { parallel, signal: context.signal, shouldStop: () => context.pauseRequested }, work);
  context.pausePoint();
  const kept = ids.flatMap((id) => proved.get(id) ?? []);
  const refusals = [...before, ...ids.flatMap((id) => refused.get(id) ?? [])];
  return { kept, refusals: refusals.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}
