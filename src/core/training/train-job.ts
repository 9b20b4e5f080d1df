/** Job kind `train`: stages of a recipe on the same weights, with checkpoints; ends with an adapter or a model file. */
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { loraAlpha, trainRunSchema } from '#shared/schema/training.ts';
import type { Stage, TrainRun } from '#shared/schema/training.ts';
import type { Model } from '#shared/schema/model.ts';
import type { OpenParams, StepMetrics, TrainRow } from '#shared/worker/trainer.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import { readGguf, tokenizerPrint } from '#core/llm/index.ts';
import { makeFolder } from '#core/make-folder.ts';
import { trainingThreads } from '#core/process/index.ts';
import type { CoreServices } from '#core/services.ts';
import { readAdapter } from '#core/training/adapter.ts';
import { architectureOf, storedTensors } from '#core/training/architecture-of.ts';
import { writeAdapter, writeModel } from '#core/training/model-files.ts';
import { trainingFolder } from '#core/training/lineage.ts';
import { RowOrder, updatesFor } from '#core/training/order.ts';
import type { Trainer } from '#core/training/port.ts';
import { stagesOf } from '#core/training/recipes.ts';
import { countRows, readTokenRows } from '#core/training/rows.ts';
import type { TokenRow } from '#core/training/rows.ts';
import { learningRate } from '#core/training/schedule.ts';
import { stopNorm } from '#core/training/stop-norm.ts';

const checkpointSchema = z.object({
  update: z.int(),
  file: z.string(),
  tokens: z.int(),
  norms: z.array(z.number()),
});
type Checkpoint = z.infer<typeof checkpointSchema>;

/** Norms that the divergence stop remembers. */
const remembered = 64;
const mostCrashes = 3;

interface PlannedStage extends Stage {
  rows: TokenRow[];
  updates: number;
}

export function createTrainJob(services: CoreServices): JobDefinition<TrainRun, Checkpoint> {
  return defineJob<TrainRun, Checkpoint>({
    kind: 'train',
    spec: trainRunSchema,
    slots: ['compute'],
    run: (context) => train(context, services),
  });
}

async function train(context: JobContext<TrainRun, Checkpoint>, services: CoreServices) {
  const { spec: run, signal } = context;
  const base = await services.models.resolve(run.base);
  if (base.kind !== 'gguf' || base.facts === null) {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `${base.name} is no GGUF file, so its weights cannot be trained here.`,
    });
  }
  const params = openParams(run, base);
  const stages = await plan(run, base, params, context, services);
  const folder = trainingFolder(services.dataFolder, context.jobId);
  makeFolder(folder);
  const trainer = services.newTrainer();
  try {
    const state = await trainStages({ run, params, stages, folder, trainer, context });
    signal.throwIfAborted();
    const file = await writeResult(run, base, params, trainer, { folder, signal });
    const [model] = run.weights.kind === 'full' ? await services.models.add(file) : [];
    return {
      file,
      kind: run.weights.kind === 'lora' ? 'adapter' : 'model',
      modelId: model?.modelId ?? null,
      baseModelId: base.modelId,
      baseSha256: base.sha256,
      recipe: run.recipe,
      lora: params.mode.kind === 'lora' ? params.mode.lora : null,
      updates: state.update,
      trainedTokens: state.tokens,
      stages: stages.map(({ name, rows, updates }) => ({ name, rows: rows.length, updates })),
    };
  } finally {
    await trainer.close();
  }
}

export function openParams(run: TrainRun, base: Model): OpenParams {
  const header = readGguf(base.location);
  const architecture = architectureOf(header, base.location);
  const { kind, rank, targets } = run.weights;
  if (kind === 'full' && run.adapter !== null) {
    throw new AppError({
      code: 'CONFIG_INVALID',
      message:
        'A training of all weights cannot go on from an adapter. Nothing was started: merge the adapter into its base first ' +
        '(daydream models merge, or the base’s page), and train the merged model.',
    });
  }
  // What goes on from an adapter keeps its shape and scale: another alpha would change what it has learnt.
  const adapter =
    run.adapter === null ? null : readAdapter(run.adapter.path, { file: base.location, header });
  return {
    architecture,
    base: { kind: 'file', file: base.location, tensors: storedTensors(header, base.location) },
    mode:
      kind === 'full'
        ? { kind }
        : { kind, lora: adapter?.lora ?? { rank, alpha: loraAlpha(run.weights), targets } },
    adapter: adapter === null ? null : { file: adapter.file, tensors: adapter.tensors },
    valueHead: false,
    device: run.device,
    threads: trainingThreads(run.threads),
    seed: run.seed,
    adam: {
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      weightDecay: run.weightDecay,
      clipNorm: run.clipNorm,
      muon: run.optimizer === 'muon' ? { momentum: 0.95, rateFactor: run.muonFactor } : null,
    },
    limits: {
      longestBlock: Math.min(run.maxBlockTokens, Math.ceil(architecture.contextLength / 64) * 64),
      mostTokens: run.maxBlockTokens,
      share: run.share,
    },
  };
}

/** Reads and encodes the rows; the inference process is left again before training begins. */
async function plan(
  run: TrainRun,
  base: Model,
  params: OpenParams,
  context: JobContext<TrainRun, Checkpoint>,
  services: CoreServices,
): Promise<PlannedStage[]> {
  const folder = datasetFolder(run, services);
  const { signal } = context;
  context.progress({ done: 0, total: null, unit: 'rows', phase: 'Encoding the rows' });
  const loaded = await services.models.load(base, {
    adapters: [],
    contextTokens: 64,
    sequences: 1,
    threads: 1,
    format: run.format,
    signal,
  });
  try {
    const stages: PlannedStage[] = [];
    for (const stage of stagesOf(run.recipe)) {
      const rows = await readTokenRows(folder, stage.parts, loaded.model, {
        groupBy: run.groupBy,
        longest: Math.min(params.limits.longestBlock, params.architecture.contextLength),
        contextLength: params.architecture.contextLength,
        signal,
        onProgress: (done) =>
          context.progress({ done, total: null, unit: 'rows', phase: 'Encoding the rows' }),
      });
      stages.push({ ...stage, rows, updates: await updatesOf(stage, rows.length, run, { folder, signal }) });
    }
    return stages;
  } finally {
    await loaded.release();
  }
}

/** @param rows of the stage */
async function updatesOf(
  stage: Stage,
  rows: number,
  run: TrainRun,
  options: { folder: string; signal: AbortSignal },
): Promise<number> {
  if (stage.updatesOf === undefined) {
    return run.updates ?? updatesFor(rows, { passes: epochsOf(stage, run), size: run.batchRows });
  }
  let updates = 0;
  for (const other of stage.updatesOf) {
    updates += await updatesOf(other, await countRows(options.folder, other.parts, options), run, options);
  }
  return updates;
}

function epochsOf({ name }: Stage, run: TrainRun): number {
  return name === 'iwm' ? run.iwmEpochs : run.epochs;
}

export function datasetFolder(run: TrainRun, { store }: CoreServices): string {
  if ('folder' in run.dataset) return run.dataset.folder;
  const { datasetId } = run.dataset;
  const dataset = store.datasets.get(datasetId);
  if (dataset === null) {
    throw new AppError({
      code: 'NOT_FOUND',
      message: `There is no data set ${datasetId}. List them: daydream datasets`,
    });
  }
  return dataset.folder;
}

interface Work {
  run: TrainRun;
  params: OpenParams;
  stages: readonly PlannedStage[];
  folder: string;
  trainer: Trainer;
  context: JobContext<TrainRun, Checkpoint>;
}

/** All stages from the last checkpoint on; a trainer that dies is opened again there, a few times. */
async function trainStages(work: Work): Promise<Checkpoint> {
  let state = checkpointSchema.nullable().parse(work.context.resumeFrom) ?? {
    update: 0,
    file: '',
    tokens: 0,
    norms: [],
  };
  for (let crashes = 0; ; crashes += 1) {
    try {
      const { context, trainer, params } = work;
      context.progress({
        done: state.update,
        total: totalUpdates(work.stages),
        unit: 'updates',
        phase: 'Opening the model',
      });
      const opened = await trainer.open(params, { signal: context.signal });
      if (state.file !== '') await trainer.restore({ file: state.file });
      context.emit({
        type: 'training-opened',
        message: `${opened.trainable.toLocaleString('en')} trainable numbers on ${opened.device}${state.file === '' ? '' : `, from update ${state.update}`}.`,
      });
      return await runStages(work, state, (next) => {
        state = next;
      });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'TRAINER_CRASHED' || crashes >= mostCrashes)
        throw error;
      work.context.emit({ type: 'trainer-crashed', level: 'warn', message: error.message });
    }
  }
}

async function runStages(
  work: Work,
  from: Checkpoint,
  saved: (state: Checkpoint) => void,
): Promise<Checkpoint> {
  const { run, stages, trainer, context } = work;
  let state = from;
  const total = totalUpdates(stages);
  for (const [index, stage] of stages.entries()) {
    const before = totalUpdates(stages.slice(0, index));
    const order = new RowOrder(
      stage.rows.map(({ group }) => group),
      run.seed + index,
    );
    const passes = run.updates === null && stage.updatesOf === undefined ? epochsOf(stage, run) : null;
    while (state.update < before + stage.updates) {
      const local = state.update - before;
      const rows = order.batch(local, run.batchRows, passes).flatMap((at) => stage.rows[at] ?? []);
      const metrics = await trainer.step(
        trainRows(rows),
        {
          objective: { kind: 'likelihood' },
          learningRate: learningRate(local + 1, stage.updates, run.learningRate, run.schedule),
          stopNorm: stopNorm(state.norms, run),
        },
        { signal: context.signal },
      );
      state = {
        ...state,
        update: state.update + 1,
        tokens: state.tokens + metrics.flatTokens,
        norms: [...state.norms, metrics.gradientNorm].slice(-remembered),
      };
      report(context, stage.name, state.update, metrics);
      context.metric('rowTokens', state.update, state.tokens);
      context.progress({ done: state.update, total, unit: 'updates', phase: `Training: ${stage.name}` });
      const due =
        state.update % run.checkpointEvery === 0 || state.update === total || context.pauseRequested;
      if (due) {
        state = await checkpoint(work, state);
        saved(state);
        context.pausePoint();
      }
    }
  }
  return state;
}

/** The file is complete before the job points to it; the one before goes only then. */
async function checkpoint({ folder, trainer, context }: Work, state: Checkpoint): Promise<Checkpoint> {
  const file = path.join(folder, `checkpoint-${String(state.update).padStart(7, '0')}.bin`);
  await trainer.save({ file, note: null });
  const next = { ...state, file };
  context.emit({
    type: 'checkpoint-saved',
    message: `Checkpoint at update ${state.update.toLocaleString('en')}.`,
    data: { update: state.update, tokens: state.tokens, file },
  });
  context.commitStep(next);
  for (const name of readdirSync(folder)) {
    const old = path.join(folder, name);
    if (name.startsWith('checkpoint-') && old !== file) rmSync(old, { force: true });
  }
  return next;
}

/** Each target counts alike: 1 / targets of the batch. */
export function trainRows(rows: readonly TokenRow[]): TrainRow[] {
  const targets = rows.reduce((sum, row) => sum + row.targets.length, 0);
  return rows.map((row) => ({
    tokens: row.tokens,
    targets: row.targets,
    weights: new Float32Array(row.targets.length).fill(1 / targets),
  }));
}

function report(
  context: JobContext<TrainRun, Checkpoint>,
  stage: string,
  update: number,
  metrics: StepMetrics,
): void {
  context.metric(`loss/${stage}`, update, metrics.loss);
  context.metric('gradientNorm', update, metrics.gradientNorm);
  context.metric('learningRate', update, metrics.learningRate);
  context.metric('rowTokensPerSecond', update, (metrics.flatTokens / metrics.ms) * 1000);
  context.metric('computedTokensPerSecond', update, (metrics.computedTokens / metrics.ms) * 1000);
  for (const [name, value] of Object.entries(metrics.extra)) context.metric(name, update, value);
}

function totalUpdates(stages: readonly PlannedStage[]): number {
  return stages.reduce((sum, { updates }) => sum + updates, 0);
}

async function writeResult(
  run: TrainRun,
  base: Model,
  params: OpenParams,
  trainer: Trainer,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<string> {
  const tensors = await trainer.weights();
  const stem = `${base.name.replaceAll(/[^\w.-]+/g, '-')}-${run.recipe}`;
  const file = path.join(folder, `${stem}.gguf`);
  if (params.mode.kind === 'lora') {
    writeAdapter(file, {
      architecture: params.architecture.name,
      alpha: params.mode.lora.alpha,
      tokenizer: tokenizerPrint(base.location, readGguf(base.location)),
      name: run.name === '' ? stem : run.name,
      tensors,
    });
  } else await writeModel(file, base.location, tensors, { signal });
  return file;
}
