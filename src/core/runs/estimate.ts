/**
 * What a run costs, before it starts. Counts are upper bounds where they depend on what the model does. The length of expert
 * paths is measured by really solving a few of the very tasks; memory comes from the model's fit. Time comes from what runs of
 * this kind with this model really took here; before the first of them from the measured writing rate, else it is unknown.
 */
import type { FitEstimate, Model } from '#shared/schema/model.ts';
import { runSchema } from '#shared/schema/run.ts';
import type { EarlyExperienceRun, RolloutRun, Run, RunEstimate } from '#shared/schema/run.ts';
import type { ModelNeeds } from '#core/agents/index.ts';
import { actingNeeds, countTasks } from '#core/agents/index.ts';
import { modelNeeds, samplesOf, writesReflections } from '#core/early-experience/index.ts';
import { findModel } from '#core/llm/index.ts';
import { starterModelFile } from '#core/resources.ts';
import type { CoreServices } from '#core/services.ts';
import { expertSteps } from '#core/runs/expert-steps.ts';

/** Stored bytes a row, measured on household runs: texts, admissible lists, token ids and log-probabilities. */
const bytesPerStep = 4_000;
const bytesPerBranch = 1_500;
/** An exported row holds the whole conversation up to its state. */
const bytesPerExportedRow = 6_000;

interface Cost {
  demonstrations: number;
  environmentSteps: number;
  modelCalls: number;
  promptTokens: number;
  completionTokens: number;
  diskBytes: number;
}

function rolloutCost(run: RolloutRun, tasks: number, maxSteps: number): Cost {
  const episodes = tasks * run.rolloutsPerTask;
  const steps = episodes * maxSteps;
  // Append-only conversations are evaluated once; a windowed prompt is new at each step.
  const prompts = run.policy.history.style === 'append' ? episodes : steps;
  return {
    demonstrations: 0,
    environmentSteps: steps,
    modelCalls: steps,
    promptTokens: prompts * run.limits.maxPromptTokens,
    completionTokens: steps * run.policy.maxTokens,
    diskBytes: steps * bytesPerStep,
  };
}

function earlyExperienceCost(run: EarlyExperienceRun, tasks: number, path: number): Cost {
  const { iwm, sr, execution } = run.branching;
  const { reflection } = run;
  const states = Math.ceil(tasks * path);
  const branches = states * ((iwm.enabled ? iwm.k : 0) + (sr.enabled ? sr.k : 0) + 1);
  const samples = samplesOf(run);
  const proposalCalls = states * (Number(samples.iwm > 0) + Number(samples.sr > 0));
  const written = writesReflections(run) ? states * (reflection.unit === 'state' ? 1 : sr.k) : 0;
  const calls = proposalCalls + written * reflection.attempts;
  return {
    demonstrations: tasks,
    // Demonstrated, proved by a replay, walked from state to state; replay also executes the prefix for each branch: half a path on average.
    environmentSteps: 3 * states + branches * (execution === 'replay' ? 1 + Math.ceil(path / 2) : 1),
    modelCalls: calls,
    // Proposals of one episode share a growing prompt; each reflection reads its own.
    promptTokens:
      (proposalCalls > 0 ? tasks : 0) * run.limits.maxPromptTokens + written * run.limits.maxPromptTokens,
    completionTokens:
      states * (samples.iwm + samples.sr) * run.policy.maxTokens +
      written * reflection.attempts * reflection.maxTokens,
    diskBytes:
      states * bytesPerStep + branches * bytesPerBranch + (states + branches + written) * bytesPerExportedRow,
  };
}

function tasksOf(services: CoreServices, { environment }: Run): number {
  return Math.min(environment.tasks, countTasks(services.environments.get(environment.id), environment));
}

function costOf(services: CoreServices, run: Run, path: number): Cost {
  const maxSteps = run.limits.maxSteps ?? services.environments.get(run.environment.id).describe().maxSteps;
  const tasks = tasksOf(services, run);
  return run.kind === 'rollout' ? rolloutCost(run, tasks, maxSteps) : earlyExperienceCost(run, tasks, path);
}

/**
 * Milliseconds a written token (of the upper bound), median over the last finished runs of this kind with this model: the
 * same bound is computed for each of them and divides the time it really took, so batching and short answers are in it.
 */
function measuredMsPerToken(
  services: CoreServices,
  models: readonly Model[],
  run: Run,
  path: number,
): number | null {
  // However each run names it: one model is one model.
  const bundled = starterModelFile();
  const identity = (reference: string) => findModel(models, reference, bundled)?.modelId ?? reference;
  const wanted = identity(run.policy.model);
  const finished = services.store.jobs.list(
    { kind: run.kind, state: 'succeeded' },
    { cursor: null, limit: 20 },
  );
  const environments = new Set(services.environments.list().map((one) => one.describe().id));
  const rates: number[] = [];
  for (const job of finished.items) {
    const past = runSchema.safeParse(job.spec);
    if (!past.success || identity(past.data.policy.model) !== wanted) continue;
    if (!environments.has(past.data.environment.id)) continue;
    const tokens = costOf(services, past.data, path).completionTokens;
    if (tokens > 0 && job.activeMs > 0) rates.push(job.activeMs / tokens);
  }
  rates.sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? null;
}

/** What the job will ask for when it loads the policy. */
function needsOf(services: CoreServices, run: Run): ModelNeeds {
  const tasks = tasksOf(services, run);
  if (run.kind === 'early-experience') return modelNeeds(run, tasks);
  return actingNeeds(run.policy, run.limits, Math.min(run.parallel, tasks * run.rolloutsPerTask));
}

async function modelFacts(
  services: CoreServices,
  models: readonly Model[],
  run: Run,
): Promise<{ fit: FitEstimate | null; tokensPerSecond: number | null }> {
  const model = findModel(models, run.policy.model, starterModelFile());
  if (model === null || model.kind !== 'gguf') return { fit: null, tokensPerSecond: null };
  const { contextTokens, parallel } = needsOf(services, run);
  const fit = await services.models
    .fit(model.modelId, { contextTokens, sequences: parallel })
    .catch(() => null);
  const calibration = await services.models.calibration(model.modelId);
  const trial = calibration?.trials.find(({ threads }) => threads === calibration.threads);
  return { fit, tokensPerSecond: trial?.tokensPerSecond ?? null };
}

export async function estimateRun(
  services: CoreServices,
  run: Run,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<{ estimate: RunEstimate; memory: FitEstimate | null }> {
  const provider = services.environments.get(run.environment.id);
  const maxSteps = run.limits.maxSteps ?? provider.describe().maxSteps;
  const path = await expertSteps(provider, run.environment, { seed: run.seed, maxSteps, signal });
  const cost = costOf(services, run, path);
  const models = await services.models.list();
  const { fit, tokensPerSecond } = await modelFacts(services, models, run);
  const measured = measuredMsPerToken(services, models, run, path);
  // Before the first run: one conversation's writing rate, reading counted as fast as writing; batching and reading are faster.
  const bound =
    tokensPerSecond === null ? null : ((cost.completionTokens + cost.promptTokens) / tokensPerSecond) * 1000;
  const durationMs = measured === null ? bound : measured * cost.completionTokens;
  return {
    estimate: {
      ...cost,
      memoryBytes: fit?.totalBytes ?? null,
      durationMs: durationMs === null ? null : Math.round(durationMs),
    },
    memory: fit,
  };
}
