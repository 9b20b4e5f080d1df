/** Everything that can be known before a run starts: is it well written, does what it names exist, what will it cost. */
import { existsSync } from 'node:fs';
import type { z } from 'zod';
import type { runsContract } from '#shared/contract/runs.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { AppError, toAppError } from '#shared/errors.ts';
import { showPath } from '#shared/issue-words.ts';
import type { Job } from '#shared/schema/job.ts';
import type { Model } from '#shared/schema/model.ts';
import type { Role } from '#shared/schema/policy.ts';
import type { Run, RunProblem } from '#shared/schema/run.ts';
import { sentence } from '#shared/sentence.ts';
import { starterModelFile } from '#core/resources.ts';
import type { CoreServices } from '#core/services.ts';
import { countTasks, modelless, promptRoom, promptShortage } from '#core/agents/index.ts';
import {
  checkImport,
  deviationsOf,
  expertPromptShortage,
  recordedGames,
  splitProblem,
  writesReflections,
} from '#core/early-experience/index.ts';
import { findModel, lookAtFile } from '#core/llm/index.ts';
import { commandFor } from '#core/runs/command.ts';
import { estimateRun } from '#core/runs/estimate.ts';
import { familiesOf } from '#core/runs/families.ts';
import { nearest } from '#core/runs/nearest.ts';
import { allPresets } from '#core/runs/presets.ts';
import type { KeyPath } from '#core/runs/yaml.ts';
import { parseRun } from '#core/runs/yaml.ts';

export type RunCheck = z.output<NonNullable<(typeof runsContract.check)['~orpc']['outputSchema']>>;

type Found = { path: KeyPath } & Pick<RunProblem, 'message' | 'severity' | 'code'>;

function error(path: KeyPath, message: string, code?: ErrorCode): Found {
  return { path, message, severity: 'error', ...(code === undefined ? {} : { code }) };
}
function warning(path: KeyPath, message: string): Found {
  return { path, message, severity: 'warning' };
}

function environmentProblems(services: CoreServices, run: Run): Found[] {
  const { id, split, tasks, taskTypes } = run.environment;
  const providers = services.environments.list().map((provider) => provider.describe());
  const description = providers.find((candidate) => candidate.id === id);
  if (description === undefined) {
    const known = providers.map((candidate) => candidate.id);
    const suggestion = nearest(id, known);
    const help = suggestion === null ? `There are: ${known.join(', ')}.` : `Did you mean \`${suggestion}\`?`;
    return [error(['environment', 'id'], `There is no environment ${id}. ${help}`)];
  }
  const found: Found[] = [];
  for (const [index, type] of taskTypes.entries()) {
    if (description.taskTypes.includes(type)) continue;
    const known = description.taskTypes.join(', ');
    found.push(
      error(['environment', 'taskTypes', index], `${id} has no task type ${type}. It has: ${known}.`),
    );
  }
  const inSplit = description.splits.find((entry) => entry.split === split)?.tasks ?? 0;
  const available = countTasks(services.environments.get(description.id), run.environment);
  const chosen = taskTypes.length === 0 ? '' : ` of type ${taskTypes.join(', ')}`;
  if (inSplit === 0) {
    found.push(error(['environment', 'split'], `${id} has no tasks in the split ${split}.`));
  } else if (available === 0 && found.length === 0) {
    found.push(error(['environment', 'taskTypes'], `${id} has no tasks${chosen} in the split ${split}.`));
  } else if (available > 0 && tasks > available) {
    const message = `${id} has ${String(available)} tasks${chosen} in ${split}, not ${String(tasks)}; all of them are used.`;
    found.push(warning(['environment', 'tasks'], message));
  }
  const wrongSplit = run.kind === 'early-experience' ? splitProblem(run) : null;
  if (wrongSplit !== null) found.push(error(['environment', 'split'], wrongSplit));
  if (
    run.kind === 'early-experience' &&
    run.demonstrations.source === 'solver' &&
    description.expert === 'none'
  ) {
    found.push(error(['demonstrations', 'source'], `${id} has no solver. Record or import demonstrations.`));
  }
  if (run.kind === 'early-experience' && run.demonstrations.source === 'recorded') {
    const games = recordedGames(description.id, split);
    const { total } = services.store.episodes.list(games, 'oldest', { cursor: null, limit: 1 });
    if (total !== null && total < tasks) {
      const message = `${String(total)} successful games of ${id} (${split}) are recorded, not ${String(tasks)}; they are all that there is to learn from.`;
      found.push(warning(['environment', 'tasks'], message));
    }
  }
  if (run.kind === 'rollout' && split === 'train' && run.policy.adapters.length > 0) {
    const message =
      'Tasks of train may be those that the adapter was trained on: their success says nothing about new ones. Measure on development, seen or unseen.';
    found.push(warning(['environment', 'split'], message));
  }
  return found;
}

/** Without hashing or loading: this runs at each keystroke. A new path is registered when the run starts. */
async function whatIsNamed(
  services: CoreServices,
  reference: string,
): Promise<Model | 'new file' | 'none needed' | null> {
  const known = findModel(await services.models.list(), reference, starterModelFile());
  if (known !== null) return known;
  if (modelless.has(reference)) return 'none needed';
  if (reference.startsWith('scripted:')) return services.models.resolve(reference);
  return existsSync(reference) ? 'new file' : null;
}

/** What the job would find when it loads them together; null also where the base is not known yet. */
async function adapterProblem(
  services: CoreServices,
  model: Awaited<ReturnType<typeof whatIsNamed>>,
  file: string,
): Promise<string | null> {
  if (model === 'none needed') return 'Only a model takes an adapter; there is none here.';
  if (model === null || model === 'new file' || model.problem !== null) return null;
  return services.models.checkAdapter(model.modelId, file).then(
    () => null,
    (thrown: unknown) => toAppError(thrown).message,
  );
}

interface Reader {
  name: string;
  /** Tokens; 0 where it is not known. */
  context: number;
}

/** Of a role's model, how much it reads. */
async function readerOf(services: CoreServices, reference: string): Promise<Reader> {
  const model = await whatIsNamed(services, reference).catch(() => null);
  return model === null || typeof model === 'string'
    ? { name: reference, context: 0 }
    : { name: model.name, context: model.facts?.contextLength ?? 0 };
}

/** Where nobody knows how long the prompts get: what the limits allow may be more than the model reads. */
function contextProblem(
  { name, context }: Reader,
  { maxTokens }: Pick<Role, 'maxTokens'>,
  run: Run,
): Found[] {
  const { maxPromptTokens } = run.limits;
  if (context === 0 || maxPromptTokens + maxTokens <= context) return [];
  const reads = `${name} reads ${String(context)} tokens`;
  const longer =
    run.kind === 'rollout'
      ? 'an episode whose prompt outgrows them ends with `context-full`'
      : 'a state whose prompt is longer is left out there, and counted';
  const message =
    promptRoom(run.limits, context).by === 'model'
      ? `${reads}, and limits.maxPromptTokens is ${String(maxPromptTokens)}: ${longer}.`
      : `${reads}: a prompt at the limit of ${String(maxPromptTokens)} leaves ${String(context - maxPromptTokens)} of the ${String(maxTokens)} for the answer, which is cut there.`;
  return [warning(['limits', 'maxPromptTokens'], message)];
}

/** One warning about the length of the policy's prompts: what a walk along the expert's path shows, else what the limits allow. */
async function promptProblem(
  services: CoreServices,
  run: Run,
  options: { signal?: AbortSignal | undefined },
): Promise<Found[]> {
  const provider = services.environments.get(run.environment.id);
  const reader = await readerOf(services, run.policy.model);
  const room = { ...options, contextTokens: reader.context };
  const shortage =
    run.kind === 'rollout'
      ? await promptShortage(provider, run, room)
      : await expertPromptShortage(provider, run, room);
  if (shortage === null) return contextProblem(reader, run.policy, run);
  return [warning(['limits', 'maxPromptTokens'], shortage.message)];
}

async function roleProblems(services: CoreServices, role: Omit<Role, 'sampling'>, path: KeyPath) {
  const found: Found[] = [];
  const model = await whatIsNamed(services, role.model).catch((thrown: unknown) => thrown as Error);
  if (model instanceof Error) return [error([...path, 'model'], model.message)];
  if (model === null) {
    const message = `There is no model ${role.model}: neither a known id, nor a name that only one model has, nor a file. List them with \`daydream models\`.`;
    found.push(error([...path, 'model'], message));
  }
  const seen = model === 'new file' ? lookAtFile(role.model) : typeof model === 'string' ? null : model;
  if (seen !== null) {
    if (seen.problem !== null) {
      const { message, code } = seen.problem;
      found.push(error([...path, 'model'], message, code));
    }
    if (role.format === 'chat' && seen.facts?.hasChatTemplate === false) {
      const message = `${seen.name} has no chat template. Use \`auto\` or \`completion\`.`;
      found.push(error([...path, 'format'], message));
    }
  }
  for (const [index, adapter] of role.adapters.entries()) {
    if (!existsSync(adapter.path)) {
      found.push(error([...path, 'adapters', index, 'path'], `There is no file ${adapter.path}.`));
      continue;
    }
    const misfit = await adapterProblem(services, model, adapter.path);
    if (misfit !== null) found.push(error([...path, 'adapters', index, 'path'], misfit));
  }
  return found;
}

/** Line by line what the job will refuse before it executes anything; whether the rest succeeds is known when it was executed. */
async function importProblems(
  services: CoreServices,
  { environment }: Run,
  file: string,
  { signal }: { signal?: AbortSignal | undefined },
): Promise<Found[]> {
  const path = ['demonstrations', 'file'];
  const provider = services.environments.list().find((one) => one.describe().id === environment.id);
  if (provider === undefined) return [];
  try {
    const { usable, refused, listed } = await checkImport(provider, environment.split, file, {
      signal: signal ?? new AbortController().signal,
    });
    const found = listed.map(({ line, reason }) => {
      return warning(path, `${file}, line ${String(line)}: ${reason}. It will be left out.`);
    });
    if (refused > listed.length) {
      const more = `… and ${String(refused - listed.length)} more lines of ${file} will be left out; ${String(usable)} are tried.`;
      found.push(warning(path, more));
    }
    if (usable > 0) return found;
    return [...found, error(path, `${file} holds no demonstration for this run.`)];
  } catch (thrown) {
    if (signal?.aborted === true || !(thrown instanceof AppError)) throw thrown;
    return [error(path, thrown.message)];
  }
}

async function crossProblems(
  services: CoreServices,
  run: Run,
  options: { signal?: AbortSignal | undefined },
): Promise<Found[]> {
  const found = environmentProblems(services, run);
  found.push(...(await roleProblems(services, run.policy, ['policy'])));
  if (run.kind !== 'early-experience') return found;
  const { generator, maxTokens } = run.reflection;
  const { iwm, sr } = run.branching;
  const proposes =
    (iwm.enabled && iwm.sampler === 'policy') ||
    (sr.enabled && sr.sampler === 'policy') ||
    (writesReflections(run) && generator === 'self');
  if (run.policy.model === 'scripted:expert' && proposes) {
    const message =
      'scripted:expert only acts: it proposes no alternatives and writes no reflections. Choose a model, or sampler `uniform` and no reflections.';
    found.push(error(['policy', 'model'], message));
  }
  if (writesReflections(run) && generator !== 'self') {
    const role = { ...generator, maxTokens };
    found.push(...(await roleProblems(services, role, ['reflection', 'generator'])));
    found.push(...contextProblem(await readerOf(services, role.model), role, run));
  }
  const { demonstrations } = run;
  if (demonstrations.source === 'import') {
    found.push(...(await importProblems(services, run, demonstrations.file, options)));
  }
  if (run.reflection.enabled && !run.branching.sr.enabled) {
    const message =
      'Reflections compare alternatives: enable branching for self-reflection, or no reflection is written.';
    found.push(warning(['branching', 'sr', 'enabled'], message));
  }
  return found;
}

export async function checkRun(
  services: CoreServices,
  yaml: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<RunCheck> {
  const familyOf = familiesOf(services.environments);
  const { run, problems, line } = parseRun(yaml, familyOf);
  if (run === null) return { run, problems, estimate: null, deviations: [], command: '' };
  const found = await crossProblems(services, run, options);
  const valid = found.every(({ severity }) => severity !== 'error');
  if (valid) found.push(...(await promptProblem(services, run, options)));
  const located = found.map(({ path, ...rest }) => ({
    ...rest,
    path: showPath(path),
    line: line(path),
  }));
  const estimate = valid ? await estimateRun(services, run, options) : null;
  if (estimate !== null && estimate.memory !== null && !estimate.memory.fits) {
    located.push({ path: 'policy.model', message: estimate.memory.advice, severity: 'warning', line: null });
  }
  return {
    run,
    problems: [...problems, ...located],
    estimate: estimate?.estimate ?? null,
    deviations: run.kind === 'early-experience' ? deviationsOf(run, familyOf(run.environment.id)) : [],
    command: commandFor(run, allPresets(services.store.catalogue), familyOf),
  };
}

/** @throws AppError CONFIG_INVALID naming the first problems with their lines; nothing is started then */
export async function startRun(
  services: CoreServices,
  yaml: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Job> {
  const { run, problems } = await checkRun(services, yaml, options);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (run === null || errors.length > 0) {
    const lines = errors
      .slice(0, 5)
      .map(
        ({ line, path, message }) =>
          `${line === null ? '' : `line ${String(line)}: `}${path === '' ? '' : `${path}: `}${sentence(message)}`,
      );
    const more = errors.length > 5 ? ` And ${String(errors.length - 5)} more.` : '';
    throw new AppError({ code: 'CONFIG_INVALID', message: `${lines.join(' ')}${more} Nothing was started.` });
  }
  const title = run.name === '' ? `${run.kind} on ${run.environment.id}` : run.name;
  return services.jobs.submit({ kind: run.kind, title, spec: run, seed: run.seed });
}
