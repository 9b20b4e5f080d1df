/** The data sets of an Early Experience run: its rows, streamed into a folder, with the manifest of everything that made them. */
import path from 'node:path';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { datasetIdSchema, modelIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import type { Reflection } from '#shared/schema/branch.ts';
import type { Dataset, Manifest } from '#shared/schema/dataset.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { CoreServices } from '#core/services.ts';
import type { PromptSettings } from '#core/agents/index.ts';
import { canonicalJson, identityHash, promptSettings, sha256 } from '#core/agents/index.ts';
import { findModel } from '#core/llm/index.ts';
import type { DatasetWriter } from '#core/datasets/index.ts';
import { writeDataset } from '#core/datasets/index.ts';
import { demonstrationsResult, readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import { DROP_HELP } from '#core/early-experience/filter-rules.ts';
import { deviationsOf } from '#core/early-experience/profile.ts';
import { demonstrationRows } from '#core/early-experience/rows.ts';
import type { ExportSpec } from '#core/early-experience/spec.ts';
import type { DropReason } from '#core/early-experience/verdicts.ts';
import { verdicts } from '#core/early-experience/verdicts.ts';

type Services = Pick<CoreServices, 'store' | 'environments' | 'clock' | 'dataFolder' | 'version'>;

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
 * @throws AppError DISK_FULL, CONFLICT (the folder is taken), CANCELLED, NOT_FOUND
 */
export async function exportRun(
  spec: ExportSpec,
  services: Services,
  options: ExportOptions,
): Promise<Dataset> {
  const { store } = services;
  const { run } = spec;
  const description = services.environments.get(run.environment.id).describe();
  const { episodeIds } = demonstrationsResult(store, spec.demonstrationsJobId);
  const facts = modelFacts(spec, services);
  const settings: PromptSettings = promptSettings(run.policy, facts.format);
  const createdAt = services.clock.now();
  const datasetId =
    options.datasetId ??
    datasetIdSchema.parse(identityHash('dataset', spec.pipelineJobId, spec.demonstrationsJobId, createdAt));
  const folder = options.folder ?? run.export.folder ?? path.join(services.dataFolder, 'datasets', datasetId);
  const counts = new Counts();
  const fill = async (writer: DatasetWriter): Promise<Manifest> => {
    let done = 0;
    for (const episodeId of episodeIds) {
      const demonstration = readDemonstration(store, episodeId);
      const branches =
        spec.branchingJobId === null ? [] : store.branches.ofEpisode(episodeId, spec.branchingJobId);
      const reflections =
        spec.reflectionJobId === null ? [] : store.reflections.ofEpisode(episodeId, spec.reflectionJobId);
      counts.episode(demonstration.episode.taskId, reflections);
      const rows = demonstrationRows(
        { demonstration, branches, reflections },
        { run, actionGuide: description.actionGuide, settings },
      );
      for (const { part, row } of rows) {
        // Each expert state has one row here, whatever the writer then leaves out.
        if (part === 'expert_sft') counts.states += 1;
        await writer.add(part, row);
      }
      done += 1;
      options.onProgress?.(done, episodeIds.length);
    }
    return {
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
      states: counts.states,
      branches: branchSummary(store, spec.branchingJobId),
      filters: [...counts.filters(), ...writer.dropped()],
      files: writer.files(),
    };
  };
  const manifest = await writeDataset(
    {
      folder,
      name: spec.name,
      owner: datasetId,
      maxCharacters: Math.floor(
        (run.limits.maxPromptTokens + run.policy.maxTokens) *
          (facts.charactersPerToken ?? CHARACTERS_A_TOKEN),
      ),
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
 * @param jobId the pipeline's; @throws AppError NOT_FOUND, CONFLICT when it has not finished its collection
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
  if (demonstrationsJobId === null) {
    throw new AppError({
      code: 'CONFLICT',
      message: `Job ${request.jobId} has no finished demonstrations yet. Wait for it, or resume it.`,
    });
  }
  return exportRun(
    {
      run: run.data,
      pipelineJobId: request.jobId,
      demonstrationsJobId,
      branchingJobId: stage('branching'),
      reflectionJobId: stage('reflection'),
      name: request.name === '' ? datasetName(run.data.name, job.title) : request.name,
    },
    services,
    { signal: options.signal, folder: request.folder },
  );
}

export function datasetName(runName: string, fallback: string): string {
  return runName === '' ? fallback : runName;
}

function branchSummary(store: Services['store'], jobId: JobId | null): Manifest['branches'] {
  if (jobId !== null) return store.branches.summary(jobId);
  return { executed: 0, accepted: 0, rejected: 0, invalid: 0, inadmissible: 0, sameAsExpert: 0, refilled: 0 };
}

class Counts {
  readonly tasks = new Set<string>();
  states = 0;
  readonly #drops = new Map<DropReason, number>();

  episode(taskId: string, reflections: readonly Reflection[]): void {
    this.tasks.add(taskId);
    for (const { droppedBy } of verdicts(reflections)) {
      if (droppedBy !== null) this.#drops.set(droppedBy, (this.#drops.get(droppedBy) ?? 0) + 1);
    }
  }

  filters(): Manifest['filters'] {
    return [...this.#drops].map(([filter, dropped]) => ({ filter, dropped, help: DROP_HELP[filter] }));
  }
}

const stageFactsSchema = z.object({
  format: z.enum(['chat', 'completion']).default('chat'),
  promptCharacters: z.number().default(0),
  promptTokens: z.number().default(0),
  modelId: modelIdSchema.nullable().default(null),
});

/** What the earlier stages learnt about the models: prompt format, real characters per token, names and hashes. */
function modelFacts(spec: ExportSpec, { store }: Services) {
  const read = (jobId: JobId | null) =>
    stageFactsSchema.parse((jobId === null ? null : store.jobs.get(jobId)?.result) ?? {});
  const branching = read(spec.branchingJobId);
  const reflection = read(spec.reflectionJobId);
  const characters = branching.promptCharacters + reflection.promptCharacters;
  const tokens = branching.promptTokens + reflection.promptTokens;
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
    format: branching.format,
    charactersPerToken: tokens === 0 ? null : characters / tokens,
    models: roles.map(({ role, reference, modelId }) => {
      // The stage knows which file it loaded; a role that no stage asked is known by what the run calls it.
      const used = modelId === null ? null : store.models.get(modelId);
      const model = used ?? findModel(store.models.list(), reference);
      return { role, label: model?.name ?? path.basename(reference), sha256: model?.sha256 ?? null };
    }),
  };
}
