import { z } from 'zod';
import { datasetIdSchema, jobIdSchema } from '#shared/ids.ts';
import type { datasetPartSchema } from '#shared/schema/dataset.ts';
import { promptFormatSchema } from '#shared/schema/model.ts';

/** A recipe is a list of stages on the same weights. */
export const recipeSchema = z.enum(['il', 'iwm-il', 'sr', 'iwm-sr', 'il2']).meta({
  title: 'Recipe',
  help:
    'il: imitation. iwm-il: next states first, then imitation on the same weights. sr: imitation and reflections together. ' +
    'iwm-sr: next states, then imitation and reflections. il2: imitation with as many updates as iwm-il has in both stages.',
  paper: 'il, iwm-il, sr',
});
export type Recipe = z.infer<typeof recipeSchema>;

export const trainingDeviceSchema = z.enum(['cpu', 'cuda', 'vulkan', 'metal']);
export type TrainingDevice = z.infer<typeof trainingDeviceSchema>;

/** What a machine has to train on, in words. */
export const trainingDeviceFactsSchema = z.object({
  device: trainingDeviceSchema,
  /** The name of the chip; null when there is none of that kind. */
  name: z.string().nullable(),
  /** Why it cannot be used; null when it can. */
  reason: z.string().nullable(),
});
export type TrainingDeviceFacts = z.infer<typeof trainingDeviceFactsSchema>;

/** An adapter that a training goes on from, and the training that wrote it. */
export const lineageStepSchema = z.object({
  file: z.string(),
  /** Whether the file is still there. */
  exists: z.boolean(),
  /** null: not written by a training of this application, or its entry was removed. */
  training: z
    .object({
      jobId: jobIdSchema,
      title: z.string(),
      recipe: recipeSchema,
      dataset: z.union([z.object({ datasetId: datasetIdSchema }), z.object({ folder: z.string() })]),
    })
    .nullable(),
});
export type LineageStep = z.infer<typeof lineageStepSchema>;

export const scheduleSchema = z.strictObject({
  kind: z.enum(['cosine', 'linear', 'constant']).default('cosine').meta({ title: 'Schedule' }),
  warmupShare: z
    .number()
    .min(0)
    .max(0.9)
    .default(0.1)
    .meta({ title: 'Warm-up', help: 'Share of the updates in which the learning rate rises from 0.' }),
  finalShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .meta({ title: 'Final rate', help: 'Share of the peak learning rate that is left at the end.' }),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/** The matrices that an adapter may sit on, by their GGUF names. */
export const loraTargets = [
  'attn_q',
  'attn_k',
  'attn_v',
  'attn_output',
  'ffn_gate',
  'ffn_up',
  'ffn_down',
] as const;

export const trainingModeSettingsSchema = z.strictObject({
  kind: z
    .enum(['lora', 'full'])
    .default('lora')
    .meta({ title: 'Weights', help: 'lora: an adapter beside the model. full: a new model file.' }),
  rank: z.int().min(1).max(512).default(16).meta({ title: 'LoRA rank', help: 'Of both adapter matrices.' }),
  alpha: z
    .number()
    .positive()
    .nullable()
    .default(null)
    .meta({ title: 'LoRA alpha', help: 'The adapter counts alpha / rank. Left empty: twice the rank.' }),
  targets: z
    .array(z.enum(loraTargets))
    .min(1)
    .default([...loraTargets])
    .meta({ title: 'LoRA targets', advanced: true }),
});

/** The alpha that holds: what was set, else twice the rank. */
export function loraAlpha({ rank, alpha }: { rank: number; alpha: number | null }): number {
  return alpha ?? 2 * rank;
}

export const trainRunSchema = z.strictObject({
  kind: z.literal('train').default('train'),
  name: z.string().max(120).default('').meta({ title: 'Name' }),
  seed: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .default(1)
    .meta({ title: 'Seed', help: 'Order of rows, start of the adapter.' }),
  dataset: z
    .union([z.object({ datasetId: datasetIdSchema }), z.object({ folder: z.string().min(1) })])
    .meta({ title: 'Data set', help: 'A stored data set, or a folder with its jsonl files.' }),
  base: z.string().min(1).meta({ title: 'Base model', help: 'Id, name or path of a GGUF.' }),
  adapter: z
    .object({ path: z.string().min(1).meta({ title: 'Adapter' }) })
    .nullable()
    .default(null)
    .meta({
      title: 'Continue from',
      help: 'A LoRA adapter of this base: training goes on from it, with its rank, alpha and targets.',
    }),
  format: promptFormatSchema.default('auto').meta({ title: 'Prompt format', advanced: true }),
  recipe: recipeSchema.default('il'),
  epochs: z.int().min(1).max(1000).default(1).meta({
    title: 'Epochs',
    help: 'Passes over the rows of each stage, unless updates are given. The last update has the rows that are left.',
    paper: '1 (IWM), 2 (IL)',
  }),
  iwmEpochs: z.int().min(1).max(1000).default(1).meta({ title: 'IWM epochs', paper: '1' }),
  updates: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .default(null)
    .meta({ title: 'Updates', help: 'Of each stage, instead of epochs.', advanced: true }),
  batchRows: z.int().min(1).max(4096).default(16).meta({
    title: 'Batch',
    unit: 'rows',
    help: 'On average: rows that stand side by side (see Order) come in one batch, unless they are more than a batch.',
    paper: '16',
  }),
  learningRate: z
    .number()
    .positive()
    .max(1)
    .default(2e-4)
    .meta({ title: 'Learning rate', paper: '1e-5 (full weights)' }),
  schedule: scheduleSchema.default(scheduleSchema.parse({})),
  optimizer: z
    .enum(['adamw', 'muon'])
    .default('adamw')
    .meta({
      title: 'Optimiser',
      help:
        'adamw: for all weights, as in the papers. muon: steps of equal size in all directions for the matrices of the blocks ' +
        '(Jordan et al. 2024), AdamW for the rest.',
      paper: 'adamw',
      advanced: true,
    }),
  muonFactor: z.number().positive().max(1000).default(7).meta({
    title: 'Muon factor',
    help: 'Muon’s learning rate is so many times the learning rate.',
    advanced: true,
  }),
  weightDecay: z.number().min(0).max(1).default(0).meta({ title: 'Weight decay', advanced: true }),
  clipNorm: z.number().min(0).default(1).meta({ title: 'Clip norm', help: '0 never clips.', advanced: true }),
  divergenceFactor: z.number().min(2).default(50).meta({
    title: 'Divergence',
    help: 'Training stops when the gradient norm is so many times its running median, or the clip norm where that is larger.',
    advanced: true,
  }),
  weights: trainingModeSettingsSchema.default(trainingModeSettingsSchema.parse({})),
  groupBy: z
    .enum(['row', 'state', 'episode'])
    .default('state')
    .meta({
      title: 'Order',
      help:
        'What stands side by side in a pass: rows alone (as the papers shuffle), all rows of a state, or all of an episode. ' +
        'The larger the group, the more of it is computed once, and the more alike the rows of a batch are.',
      paper: 'row',
      advanced: true,
    }),
  share: z.boolean().default(true).meta({
    title: 'Prefix forests',
    help: 'Rows of one state share the computation of their prompt; the gradient is the same.',
    advanced: true,
  }),
  maxBlockTokens: z
    .int()
    .min(64)
    .max(131_072)
    .default(2048)
    .meta({ title: 'Longest block', unit: 'tokens', advanced: true }),
  device: trainingDeviceSchema.default('cpu').meta({ title: 'Device' }),
  threads: z
    .int()
    .min(0)
    .max(512)
    .default(0)
    .meta({ title: 'Threads', help: '0: physical cores − 1, at least 1.' }),
  checkpointEvery: z.int().min(1).default(25).meta({ title: 'Checkpoint', unit: 'updates', advanced: true }),
});
export type TrainRun = z.infer<typeof trainRunSchema>;

/** The rows of a stage: the parts it mixes. */
export interface Stage {
  name: string;
  parts: z.infer<typeof datasetPartSchema>[];
  /** It has as many updates as these stages would have together; absent: as many as its own rows ask for. */
  updatesOf?: Stage[];
}
