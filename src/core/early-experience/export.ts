/** The data sets of an Early Experience run: its rows, streamed into a folder, with the manifest of everything that made them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import path from 'node:path';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { datasetIdSchema, modelIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import type { Dataset } from '#shared/schema/dataset.ts';
import type { JobState } from '#shared/schema/job.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { starterModelFile } from '#core/resources.ts';
import type { CoreServices } from '#core/services.ts';
import type { PromptSettings } from '#core/agents/index.ts';
import { canonicalJson, identityHash, promptSettings, sha256 } from '#core/agents/index.ts';
import { findModel, promptFormat } from '#core/llm/index.ts';
import type { DatasetContent, DatasetWriter } from '#core/datasets/index.ts';
import { writeDataset } from '#core/datasets/index.ts';
import { Collected } from '#core/early-experience/collected.ts';
import { demonstrationsResult, readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import { deviationsOf, writesReflections } from '#core/early-experience/profile.ts';
import { demonstrationRows } from '#core/early-experience/rows.ts';
import type { ExportSpec } from '#core/early-experience/spec.ts';
import { verdicts } from '#core/early-experience/verdicts.ts';

type Services = Pick<CoreServices, 'store' | 'models' | 'environments' | 'clock' | 'dataFolder' | 'version'>;

export interface ExportOptions {
  signal: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  /** Given for a job, so that a resumed export writes the same entry. */
  datasetId?: Dataset['datasetId'];
  folder?: string | null;
}

/** Of the measured text of this run; where no model was asked, a cautious guess for English. Characters a token. */
const CHARACTERS_A_TOKEN = 3;

/**
 * Writes `expert_sft.jsonl`, `iwm_sft.jsonl`, `reflection_sft.jsonl`, `manifest.json` and `README.md`, all or nothing, and
 * registers the set with its episodes.
 *
 * @throws AppError DISK_FULL, FILE_EXISTS (the folder is taken), CANCELLED, NOT_FOUND, MODEL_PROMPT_LIMIT (no expert row fits)
 */
export async function exportRun(
  spec: ExportSpec,
  services: Services,
  options: ExportOptions,
): Promise<Dataset> {
  const { store } = services;
  const { run } = spec;
  const description = services.environments.get(run.environment.id).describe();
  const { episodeIds, rejected, refusals } = demonstrationsResult(store, spec.demonstrationsJobId);
  const stages = readStages(spec, services);
  const settings: PromptSettings = promptSettings(run.policy, await policyFormat(run, stages, services));
  const facts = modelFacts(spec, stages, services);
  const createdAt = services.clock.now();
  const datasetId =
    options.datasetId ??
    datasetIdSchema.parse(identityHash('dataset', spec.pipelineJobId, spec.demonstrationsJobId, createdAt));
  const folder = options.folder ?? run.export.folder ?? path.join(services.dataFolder, 'datasets', datasetId);
  const counts = new Collected(store, spec.reflectionJobId);
  const charactersPerToken = facts.charactersPerToken ?? CHARACTERS_A_TOKEN;
  const limit = run.limits.maxPromptTokens + run.policy.maxTokens;
  const fill = async (writer: DatasetWriter): Promise<DatasetContent> => {
    let done = 0;
    for (const episodeId of episodeIds) {
      // Rows that are all left out are never written: without this turn nobody could cancel, and the lease would run out.
      await nextTurn();
      options.signal.throwIfAborted();
      const demonstration = readDemonstration(store, episodeId);
      const branches =
        spec.branchingJobId === null ? [] : store.branches.ofEpisode(episodeId, spec.branchingJobId);
      const decided = verdicts(
        spec.reflectionJobId === null ? [] : store.reflections.ofEpisode(episodeId, spec.reflectionJobId),
      );
      counts.episode(demonstration.episode.taskId, decided);
      const rows = demonstrationRows(
        { demonstration, branches, exported: decided.flatMap(({ exported }) => exported ?? []) },
        { run, actionGuide: description.actionGuide, settings },
      );
      for (const { part, row } of rows) {
        counts.candidate(part, row);
        if (row === null) continue;
        const written = await writer.add(part, row);
        if (written && part === 'iwm_sft') counts.targets.add(row);
      }
      done += 1;
      options.onProgress?.(done, episodeIds.length);
    }
    if (counts.states > 0 && writer.rows('expert_sft') === 0) {
      throw noExpertRow(counts, { limit, charactersPerToken });
    }
    const manifest: DatasetContent['manifest'] = {
      format: 'daydream-early-experience/1',
      createdAt: new Date(createdAt).toISOString(),
      application: { name: 'daydream', version: services.version },
      jobId: spec.pipelineJobId,
      configSha256: sha256(canonicalJson(run)),
      config: run,
      seed: run.seed,
      profile: run.profile,
      deviations: deviationsOf(run, description.family),
      environments: [
        {
          id: description.id,
          version: description.version,
          dataChecksum: description.dataChecksum,
          licence: description.licence,
        },
      ],
      models: facts.models,
      splits: [run.environment.split],
      tasks: counts.tasks.size,
      demonstrations: episodeIds.length,
      refusedDemonstrations:
        refusals === null ? null : { total: rejected, file: importFile(run), listed: refusals },
      states: counts.states,
      branches: { ...branchSummary(store, spec.branchingJobId), promptTooLong: facts.promptTooLong },
      proposals: stages.branching.modelCalls === 0 ? null : proposalsOf(stages.branching),
      iwmTargets: counts.targets.result(),
      filters: [...counts.filters(), ...writer.dropped()],
    };
    return { manifest, candidates: (part) => counts.candidatesOf(part) };
  };
  const manifest = await writeDataset(
    {
      folder,
      name: spec.name,
      owner: datasetId,
      maxCharacters: Math.floor(limit * charactersPerToken),
    },
    fill,
    { signal: options.signal },
  );
  const dataset: Dataset = {
    datasetId,
    name: spec.name,
    jobId: spec.pipelineJobId,
    folder,
    manifest,
    createdAt,
  };
  store.datasets.insert(dataset, episodeIds);
  return dataset;
}

/**
 * The data of a finished run again, with the reviews made since.
 *
 * @param jobId the pipeline's; @throws AppError NOT_FOUND, CONFLICT when a stage that it plans has not succeeded
 */
export async function exportAgain(
  request: { jobId: JobId; folder: string | null; name: string },
  services: Services,
  options: { signal: AbortSignal },
): Promise<Dataset> {
  const { store } = services;
  const job = store.jobs.get(request.jobId);
  if (job === null) {
    throw new AppError({ code: 'NOT_FOUND', message: `There is no job ${request.jobId} in this store.` });
  }
  const run = earlyExperienceRunSchema.safeParse(job.spec);
  if (job.kind !== 'early-experience' || !run.success) {
    throw new AppError({
      code: 'CONFLICT',
      message: `Job ${request.jobId} is of kind ${job.kind}; only Early Experience runs have these data sets.`,
    });
  }
  const stage = (name: string): JobId | null => {
    const child = store.jobs.childByStage(request.jobId, name);
    return child?.state === 'succeeded' ? child.jobId : null;
  };
  const demonstrationsJobId = stage('demonstrations');
  const branchingJobId = stage('branching');
  const reflectionJobId = stage('reflection');
  // A stage that this run plans and that has not ended well would be written as if it had found nothing.
  const branches = run.data.branching.iwm.enabled || run.data.branching.sr.enabled;
  const missing = [
    ...(demonstrationsJobId === null ? ['demonstrations'] : []),
    ...(branches && branchingJobId === null ? ['branching'] : []),
    ...(branches && writesReflections(run.data) && reflectionJobId === null ? ['reflection'] : []),
  ];
  if (demonstrationsJobId === null || missing.length > 0) {
    throw new AppError({
      code: 'CONFLICT',
      message:
        `Job ${request.jobId} is ${job.state} and has not finished: ${missing.join(', ')}. No data set was written; what it has collected is kept. ` +
        whatToDo(job.state),
      data: { state: job.state, missing: missing.join(', ') },
    });
  }
  return exportRun(
    {
      run: run.data,
      pipelineJobId: request.jobId,
      demonstrationsJobId,
      branchingJobId,
      reflectionJobId,
      name: request.name === '' ? datasetName(run.data.name, job.title) : request.name,
    },
    services,
    { signal: options.signal, folder: request.folder },
  );
}

function whatToDo(state: JobState): string {
  if (state === 'succeeded' || state === 'cancelled' || state === 'cancelling') {
    return 'It cannot be resumed; start the run again.';
  }
  if (state === 'queued' || state === 'running') return 'Wait until it has succeeded, then export again.';
  return 'Resume it and wait until it has succeeded, then export again.';
}

export function datasetName(runName: string, fallback: string): string {
  return runName === '' ? fallback : runName;
}

function branchSummary(store: Services['store'], jobId: JobId | null) {
  if (jobId !== null) return store.branches.summary(jobId);
  return {
    executed: 0,
    expert: 0,
    iwm: 0,
    sr: 0,
    accepted: 0,
    rejected: 0,
    invalid: 0,
    inadmissible: 0,
    sameAsExpert: 0,
    refilled: 0,
    unasked: 0,
  };
}

/** Without D_expert there is nothing to train any method on: such a run has failed, whatever else it could write. */
function noExpertRow(
  { states, shortestExpert }: Collected,
  { limit, charactersPerToken }: { limit: number; charactersPerToken: number },
): AppError {
  const needed = Math.ceil(shortestExpert / charactersPerToken);
  return new AppError({
    code: 'MODEL_PROMPT_LIMIT',
    message:
      `None of the ${String(states)} expert states fits into a row: the shortest needs about ${String(needed)} tokens, and ` +
      `limits.maxPromptTokens + policy.maxTokens are ${String(limit)}. No data set was written; demonstrations, branches and reflections are kept. ` +
      'Start the run again with a higher limits.maxPromptTokens, with policy.prompt=compact or with policy.history={style: window, steps: 2}.',
    data: { states, neededTokens: needed, limitTokens: limit },
  });
}

const stageFactsSchema = z.object({
  format: z.enum(['chat', 'completion']).nullable().default(null),
  promptCharacters: z.number().default(0),
  /** null: the server did not tell. */
  promptTokens: z
    .number()
    .nullable()
    .default(0)
    .transform((count) => count ?? 0),
  modelId: modelIdSchema.nullable().default(null),
  tooLong: z.int().default(0),
  modelCalls: z.int().default(0),
  usedProposals: z.int().nullable().default(null),
  droppedProposals: z
    .object({
      expert: z.int(),
      duplicate: z.int(),
      unreadable: z.int(),
      inadmissible: z.int(),
      excluded: z.int(),
      surplus: z.int(),
    })
    .nullable()
    .default(null)
    .catch(null),
});

/** null where an older version did not count them all. */
function proposalsOf({ usedProposals: used, droppedProposals: dropped }: Stages['branching']) {
  if (used === null || dropped === null) return null;
  return { drawn: Object.values(dropped).reduce((sum, count) => sum + count, used), used, ...dropped };
}

function importFile({ demonstrations }: EarlyExperienceRun): string | null {
  return demonstrations.source === 'import' ? demonstrations.file : null;
}

type Stages = ReturnType<typeof readStages>;

/** What the stages with a model tell of it; nothing where they did not run. */
function readStages(spec: ExportSpec, { store }: Services) {
  const read = (jobId: JobId | null) =>
    stageFactsSchema.parse((jobId === null ? null : store.jobs.get(jobId)?.result) ?? {});
  return { branching: read(spec.branchingJobId), reflection: read(spec.reflectionJobId) };
}

/**
 * A row's messages are those that the evaluator sends the policy, also where no stage has asked it anything: then its own file
 * tells how. (What an older version stored has a format where no model was asked; it means nothing.)
 */
async function policyFormat(
  run: EarlyExperienceRun,
  stages: Stages,
  { models }: Services,
): Promise<'chat' | 'completion'> {
  for (const { format, modelId } of policyStages(run, stages)) {
    if (modelId !== null && format !== null) return format;
  }
  const model = await models.resolve(run.policy.model).catch(() => null);
  return promptFormat(model, run.policy.format);
}

/** Of the stages that the policy's own model worked in; its tokens are what limits a row. */
function policyStages(run: EarlyExperienceRun, { branching, reflection }: Stages) {
  return run.reflection.generator === 'self' ? [branching, reflection] : [branching];
}

/** What the earlier stages learnt about the models: the policy's real characters per token, names and hashes. */
function modelFacts(spec: ExportSpec, { branching, reflection }: Stages, { store }: Services) {
  const measured = policyStages(spec.run, { branching, reflection });
  const characters = measured.reduce((sum, { promptCharacters }) => sum + promptCharacters, 0);
  const tokens = measured.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
  const generator = spec.run.reflection.generator;
  const roles = [
    { role: 'policy', reference: spec.run.policy.model, modelId: branching.modelId },
    ...(spec.reflectionJobId === null
      ? []
      : [
          {
            role: 'reflector',
            reference: generator === 'self' ? spec.run.policy.model : generator.model,
            modelId: reflection.modelId,
          },
        ]),
  ];
  return {
    promptTooLong: branching.tooLong,
    charactersPerToken: tokens === 0 ? null : characters / tokens,
    models: roles.map(({ role, reference, modelId }) => {
      // The stage knows which file it loaded; a role that no stage asked is known by what the run calls it.
      const used = modelId === null ? null : store.models.get(modelId);
      const model = used ?? findModel(store.models.list(), reference, starterModelFile());
      return { role, label: model?.name ?? path.basename(reference), sha256: model?.sha256 ?? null };
    }),
  };
}
