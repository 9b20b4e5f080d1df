/** Real IWM rows of household for the trainer's benches, and a model with random weights to train on them. */
import path from 'node:path';
import { z } from 'zod';
import type { TrainRow } from '#shared/worker/trainer.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import { DatasetReader } from '#core/datasets/index.ts';
import { writeRandomGguf } from '#core/llm/index.ts';
import { RowOrder } from '#core/training/order.ts';
import { readTokenRows } from '#core/training/rows.ts';
import type { TokenRow } from '#core/training/rows.ts';
import { trainRows } from '#core/training/train-job.ts';
import { createEarlyExperienceJobs } from '#core/early-experience/index.ts';
import { createEnvironmentRegistry } from '#core/environments/index.ts';
import { createJobEngine } from '#core/jobs/index.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { TrainerClient } from '#core/training/index.ts';
import type { LlmBench } from './llm.ts';

const clock = { now: () => Date.now() };
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // The figures are the output.
}

/** A trainer process of the bench's own; the caller closes it. */
export function newBenchTrainer(): TrainerClient {
  return new TrainerClient({ spawner: createNodeSpawner(), clock, log: silent });
}

export const rowsPerBatch = 16;
/** Alternatives of a state, as in the paper; with the expert's own outcome there are nine rows. */
const alternatives = 8;
export const rowsOfState = alternatives + 1;

export interface IwmData {
  modelFile: string;
  run: TrainRun;
  rows: TokenRow[];
}

/**
 * The pipeline itself: the solver demonstrates, eight other admissible actions of each state are executed, the rows exported. The
 * model's words are those of the rows, so that a text has as many tokens as with a vocabulary trained for this world.
 */
export async function collectIwm(options: {
  lab: LlmBench;
  seed: number;
  tasks: number;
  groupBy: TrainRun['groupBy'];
  signal: AbortSignal;
}): Promise<IwmData> {
  const { folder, service, store } = options.lab;
  const jobs = createJobEngine({
    store,
    clock,
    log: silent,
    slots: { compute: 1, light: 2 },
    owner: 'bench',
    soleHost: true,
  });
  const services = {
    store,
    jobs,
    models: service,
    environments: createEnvironmentRegistry({ catalogue: store.catalogue, clock }),
    newTrainer: () => {
      throw new Error('the pipeline trains nothing');
    },
    clock,
    log: silent,
    dataFolder: folder,
    version: '0.0.0-bench',
  };
  for (const job of createEarlyExperienceJobs(services)) jobs.register(job);
  jobs.start();
  try {
    const spec = earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      seed: options.seed,
      environment: { id: 'household', tasks: options.tasks },
      policy: { model: 'none' },
      branching: { iwm: { k: alternatives }, sr: { enabled: false } },
      reflection: { enabled: false },
    });
    const submitted = jobs.submit({
      kind: spec.kind,
      title: spec.kind,
      spec: z.json().parse(spec),
      seed: options.seed,
    });
    const job = await jobs.wait(submitted.jobId);
    if (job.error !== null) throw new Error(job.error.message);
    const [dataset] = store.datasets.list({ cursor: null, limit: 1 }).items;
    if (dataset === undefined) throw new Error('the pipeline exported no data set');
    const modelFile = path.join(folder, 'random-weights-train.gguf');
    writeRandomGguf(modelFile, {
      seed: options.seed,
      layers: 6,
      dim: 256,
      words: await wordsOf(dataset.folder, options.signal),
    });
    const run = trainRunSchema.parse({
      dataset: { folder: dataset.folder },
      base: modelFile,
      recipe: 'iwm-il',
      batchRows: rowsPerBatch,
      groupBy: options.groupBy,
      // The longest prompts have 2,100 tokens in such words.
      maxBlockTokens: 4096,
      seed: options.seed,
    });
    const base = await service.resolve(modelFile);
    const loaded = await service.load(base, {
      adapters: [],
      contextTokens: 64,
      sequences: 1,
      threads: 1,
      format: run.format,
      signal: options.signal,
    });
    try {
      const rows = await readTokenRows(dataset.folder, ['iwm_sft'], loaded.model, {
        longest: run.maxBlockTokens,
        contextLength: run.maxBlockTokens,
        groupBy: run.groupBy,
        signal: options.signal,
      });
      return { modelFile, run, rows };
    } finally {
      await loaded.release();
    }
  } finally {
    await jobs.dispose();
  }
}

/** The batches of the first pass, complete ones only, as the job would make them. */
export function batchesOf({ rows, run }: IwmData, size = run.batchRows): TrainRow[][] {
  const order = new RowOrder(
    rows.map(({ group }) => group),
    run.seed,
  );
  const count = Math.floor(rows.length / size);
  return Array.from({ length: count }, (_, update) =>
    trainRows(order.batch(update, size).flatMap((at) => rows[at] ?? [])),
  );
}

async function wordsOf(folder: string, signal: AbortSignal): Promise<string[]> {
  const page = await new DatasetReader().rows({ folder }, 'iwm_sft', { offset: 0, limit: 400 }, { signal });
  const words = new Set<string>();
  for (const { messages } of page.rows) {
    for (const { content } of messages)
      for (const word of content.match(/[A-Za-z]{2,}/g) ?? []) words.add(word);
  }
  return [...words].toSorted();
}
