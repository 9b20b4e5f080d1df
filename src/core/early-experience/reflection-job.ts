/** Job kind `reflection`: expert states with their executed SR alternatives → reflections, every attempt stored with its findings. */
import type { AppError } from '#shared/errors.ts';
import { isInfrastructureError, toAppError } from '#shared/errors.ts';
import { reflectionIdSchema } from '#shared/ids.ts';
import type { EpisodeId } from '#shared/ids.ts';
import type { Branch, Reflection } from '#shared/schema/branch.ts';
import { branchKey } from '#shared/row-key.ts';
import type { Reflector } from '#shared/schema/policy.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { sentence } from '#shared/sentence.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { ChatModel } from '#core/llm/port.ts';
import type { CoreServices } from '#core/services.ts';
import {
  FailureStreak,
  identityHash,
  loadModel,
  runPool,
  seedOf,
  tellingOfDeaths,
  withDeadline,
  withRetries,
} from '#core/agents/index.ts';
import type { CallCosts } from '#core/early-experience/call-costs.ts';
import { addCosts, costsOf, NO_COSTS, toldCosts } from '#core/early-experience/call-costs.ts';
import { demonstrationsResult, readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import { expertStates, placeholderThought } from '#core/early-experience/expert-states.ts';
import { droppedBy } from '#core/early-experience/filter-rules.ts';
import { detect } from '#core/early-experience/filters.ts';
import { modelNeeds } from '#core/early-experience/model-needs.ts';
import type { ReflectionCase } from '#core/early-experience/reflection.ts';
import { cleanReflection, reflectionPrompt, situation } from '#core/early-experience/reflection.ts';
import type { ReflectionSpec } from '#core/early-experience/spec.ts';
import { reflectionSpecSchema } from '#core/early-experience/spec.ts';
import type { DropReason } from '#core/early-experience/verdicts.ts';
import { verdicts } from '#core/early-experience/verdicts.ts';

export interface ReflectionTotals extends CallCosts {
  /** Texts that were wanted and written: one a state, or one an alternative (`unit`). */
  texts: number;
  kept: number;
  dropped: number;
  attempts: number;
  /** States without an accepted alternative: nothing to compare with. */
  withoutAlternatives: number;
  /** States whose prompt does not fit the generator's context. */
  tooLong: number;
  failed: number;
  /** Each dropped text once, by its final verdict: adds up to `dropped`. */
  droppedBy: Partial<Record<DropReason, number>>;
  /** Texts with this flag, dropped or not; one may have several. */
  flagged: Partial<Record<DropReason, number>>;
}

export function createReflectionJob(services: CoreServices): JobDefinition<ReflectionSpec, ReflectionTotals> {
  return defineJob<ReflectionSpec, ReflectionTotals>({
    kind: 'reflection',
    spec: reflectionSpecSchema,
    slots: ['compute'],
    run: (context) => reflect(context, services),
  });
}

interface Site {
  context: JobContext<ReflectionSpec, ReflectionTotals>;
  services: CoreServices;
  run: EarlyExperienceRun;
  family: string;
  generator: Reflector;
  model: ChatModel;
  totals: ReflectionTotals;
  total: number;
  lastError: AppError | null;
  streak: FailureStreak;
  /** Demonstrations that are reflected on now, each at one text. */
  inFlight: number;
}

/** One text to write: all alternatives of the state, or one of them. */
interface Task {
  demonstration: Demonstration;
  state: ExpertState;
  branches: Branch[];
}

async function reflect(context: JobContext<ReflectionSpec, ReflectionTotals>, services: CoreServices) {
  const { run, demonstrationsJobId } = context.spec;
  const generator = run.reflection.generator === 'self' ? run.policy : run.reflection.generator;
  const description = services.environments.get(run.environment.id).describe();
  const { episodeIds, steps } = demonstrationsResult(services.store, demonstrationsJobId);
  const total = steps * (run.reflection.unit === 'state' ? 1 : run.branching.sr.k);
  // A resumed job has counted before: its card must not fall back behind its curves.
  const resumed = textsOf(context.resumeFrom);
  const done = resumed.texts;
  const enter = (phase: string): void => {
    context.progress({ done, total, unit: 'reflections', phase });
  };
  enter('Loading the model');
  const loaded = await loadModel(services.models, generator, {
    ...modelNeeds(run, episodeIds.length),
    threads: services.store.catalogue.settings().threads,
    signal: context.signal,
  });
  try {
    enter('Reflecting');
    const site: Site = {
      context,
      services,
      run,
      family: description.family,
      generator,
      model: loaded.model,
      // What is counted anew on each pass over the states does not come from the checkpoint.
      totals: {
        ...emptyReflectionTotals(),
        ...resumed,
        withoutAlternatives: 0,
        tooLong: 0,
        failed: 0,
      },
      total,
      lastError: null,
      streak: new FailureStreak(),
      inFlight: 0,
    };
    const rendering = { actionGuide: description.actionGuide, placeholderThought: placeholderThought(run) };
    const pool = {
      parallel: run.parallel,
      signal: context.signal,
      shouldStop: () => context.pauseRequested,
      onActive: (active: number) => {
        site.inFlight = active;
      },
    };
    await tellingOfDeaths(context, services.models, () =>
      runPool(episodeIds, pool, async (episodeId, signal) => {
        for (const task of tasksOf(readDemonstration(services.store, episodeId), rendering, site)) {
          if (context.pauseRequested) break;
          await reflectOn(task, site, signal);
        }
        await loaded.model.endSession(sessionKey(episodeId));
      }),
    );
    context.pausePoint();
    if (site.lastError !== null && site.totals.texts === 0) throw site.lastError;
    const { format, model } = loaded.model.info;
    return {
      ...site.totals,
      ...toldCosts(site.totals, site.totals.texts > 0),
      format,
      modelId: model.modelId,
    };
  } finally {
    await loaded.release();
  }
}

/** The states of one demonstration share the beginning of their prompts. */
function sessionKey(episodeId: EpisodeId): string {
  return `reflection:${episodeId}`;
}

/** What is still to be written for this demonstration. Finished texts are those of this job, by state and branches. */
function tasksOf(
  demonstration: Demonstration,
  rendering: { actionGuide: string; placeholderThought: string | null },
  site: Site,
): Task[] {
  const { store } = site.services;
  const { episodeId } = demonstration.episode;
  const { branchingJobId } = site.context.spec;
  const done = new Set(
    store.reflections
      .ofEpisode(episodeId, site.context.jobId)
      .map(({ stepIndex, branchIds }) => taskKey(stepIndex, branchIds)),
  );
  const usable = store.branches
    .ofEpisode(episodeId, branchingJobId)
    .filter(({ purpose, status }) => purpose === 'sr' && status === 'accepted');
  return expertStates(demonstration, rendering).flatMap((state): Task[] => {
    const branches = usable
      .filter(({ stepIndex }) => stepIndex === state.stepIndex)
      .sort((a, b) => a.alternativeIndex - b.alternativeIndex);
    if (branches.length === 0) {
      site.totals.withoutAlternatives += 1;
      return [];
    }
    const groups = site.run.reflection.unit === 'state' ? [branches] : branches.map((branch) => [branch]);
    return groups
      .filter(
        (group) =>
          !done.has(
            taskKey(
              state.stepIndex,
              group.map(({ branchId }) => branchId),
            ),
          ),
      )
      .map((group) => ({ demonstration, state, branches: group }));
  });
}

function taskKey(stepIndex: number, branchIds: readonly string[]): string {
  return `${String(stepIndex)}:${branchIds.join(',')}`;
}

async function reflectOn(task: Task, site: Site, signal: AbortSignal): Promise<void> {
  const { context, services, run, totals } = site;
  const limit = { what: 'The reflection', ms: run.limits.episodeTimeoutMs, signal };
  try {
    const { written, costs } = await withRetries(
      () => withDeadline(limit, (timed) => write(task, site, timed)),
      {
        retries: run.limits.retries,
        signal,
        onRetry: ({ code, message }) => {
          const { episodeId, taskId } = task.demonstration.episode;
          const { stepIndex } = task.state;
          context.emit({
            type: 'reflection-restarted',
            level: 'warn',
            message: `Task ${taskId}, step ${String(stepIndex)}: ${code} broke the reflection off; it is written again.`,
            data: { episodeId, stepIndex, code, reason: message },
          });
        },
      },
    );
    totals.texts += 1;
    totals.attempts += written.length;
    addCosts(totals, costs);
    for (const { droppedBy: reason, flags } of verdicts(written)) {
      for (const flag of flags)
        totals.flagged = { ...totals.flagged, [flag]: (totals.flagged[flag] ?? 0) + 1 };
      if (reason === null) totals.kept += 1;
      else {
        totals.dropped += 1;
        totals.droppedBy = { ...totals.droppedBy, [reason]: (totals.droppedBy[reason] ?? 0) + 1 };
      }
    }
    context.metric('kept-share', totals.texts, totals.kept / totals.texts);
    if (totals.completionTokens > 0) {
      context.metric('completion-tokens', totals.texts, totals.completionTokens);
    }
    context.commitStep({ ...totals }, () => services.store.reflections.insert(written));
    site.streak.succeeded();
  } catch (thrown) {
    const error = toAppError(thrown);
    const skip =
      error.code === 'MODEL_CONTEXT_FULL' ||
      (isInfrastructureError(error.code) && error.code !== 'DISK_FULL');
    if (signal.aborted || !skip) throw thrown;
    if (error.code === 'MODEL_CONTEXT_FULL') totals.tooLong += 1;
    else {
      totals.failed += 1;
      site.lastError = error;
    }
    const { episode } = task.demonstration;
    context.emit({
      type: 'reflection-failed',
      level: 'warn',
      message: `Task ${episode.taskId}, step ${String(task.state.stepIndex)}: ${sentence(error.message)} The state has no reflection.`,
      data: { episodeId: episode.episodeId, stepIndex: task.state.stepIndex, code: error.code },
    });
    if (error.code !== 'MODEL_CONTEXT_FULL') site.streak.failed(error);
  }
  const { total, inFlight } = site;
  context.progress({ done: totals.texts, total, unit: 'reflections', inFlight, phase: 'Reflecting' });
}

/** Attempts until one passes the filters; all of them are returned, so that a dropped one can be read and brought back. */
async function write(
  task: Task,
  site: Site,
  signal: AbortSignal,
): Promise<{ written: Reflection[]; costs: CallCosts }> {
  const { reflection } = site.run;
  const written: Reflection[] = [];
  const costs = { ...NO_COSTS };
  for (let attempt = 0; attempt < reflection.attempts; attempt += 1) {
    signal.throwIfAborted();
    const made = await writeOnce(task, attempt, site, signal);
    written.push(made.reflection);
    addCosts(costs, made.costs);
    if (made.reflection.keptByFilters) break;
  }
  return { written, costs };
}

async function writeOnce(
  task: Task,
  attempt: number,
  site: Site,
  signal: AbortSignal,
): Promise<{ reflection: Reflection; costs: CallCosts }> {
  const { demonstration, state, branches } = task;
  const { context, run, model, generator, family } = site;
  const { episodeId } = demonstration.episode;
  const { template, temperature, maxTokens, filters } = run.reflection;
  const example: ReflectionCase = {
    family,
    state: state.state,
    expertAction: state.expertAction,
    expertOutcome: state.outcome.observation,
    alternatives: branches,
    maxWords: filters.maxWords,
  };
  const prompt = reflectionPrompt(template, example);
  const branchIds = branches.map(({ branchId }) => branchId);
  const identity = [context.jobId, episodeId, state.stepIndex, branchIds, attempt] as const;
  const result = await model.generate(
    {
      messages: [{ role: 'user', content: prompt }],
      sessionKey: sessionKey(episodeId),
      n: 1,
      sampling: { ...generator.sampling, temperature },
      // Not the branches' ids, which hold the job's: an equal run draws the same.
      seed: seedOf(context.seed, 'reflection', branches.map(branchKey), attempt),
      maxTokens,
      format: generator.format,
    },
    { signal },
  );
  const generation = result.generations[0] ?? { text: '', tokens: [], logprobs: [], stopReason: 'end' };
  const text = cleanReflection(generation.text);
  const flags = detect({
    text,
    raw: generation.text,
    expertAction: state.expertAction,
    alternatives: branches.map(({ action }) => action),
    admissible: state.state.observation.admissible ?? [],
    known: situation(family, state.state),
    outcomes: [state.outcome.observation, ...branches.map(({ observation }) => observation)],
    minWords: filters.minWords,
    maxWords: filters.maxWords,
    cutOff: generation.stopReason === 'length',
  });
  const drops = droppedBy(flags, filters);
  const reflection: Reflection = {
    reflectionId: reflectionIdSchema.parse(identityHash('reflection', ...identity)),
    episodeId,
    stepIndex: state.stepIndex,
    jobId: context.jobId,
    branchIds,
    expertAction: state.expertAction,
    text,
    prompt,
    raw: generation.text,
    generatorModelId: model.info.model.modelId,
    generatorLabel: model.info.model.name,
    completionTokens: [...generation.tokens],
    logprobs: [...generation.logprobs],
    attempt,
    flags,
    keptByFilters: drops.length === 0,
    droppedBy: drops,
    review: { decision: 'pending', reason: '', at: null },
    createdAt: site.services.clock.now(),
  };
  return { reflection, costs: costsOf(result) };
}

/** A checkpoint of an older version calls them states, also where a state has several. */
function textsOf(
  checkpoint: (Omit<ReflectionTotals, 'texts'> & { texts?: number; states?: number }) | null,
): Partial<ReflectionTotals> & { texts: number } {
  if (checkpoint === null) return { texts: 0 };
  const { states = 0, ...rest } = checkpoint;
  return { ...rest, texts: checkpoint.texts ?? states };
}

function emptyReflectionTotals(): ReflectionTotals {
  return {
    texts: 0,
    kept: 0,
    dropped: 0,
    attempts: 0,
    withoutAlternatives: 0,
    tooLong: 0,
    failed: 0,
    droppedBy: {},
    flagged: {},
    ...NO_COSTS,
  };
}
