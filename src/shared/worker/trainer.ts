/** What the host and the trainer process say to each other. Typed arrays cross as they are (structured clones). */
import { z } from 'zod';
import { trainingDeviceSchema } from '#shared/schema/training.ts';

export const trainableArchitectures = ['llama', 'qwen2', 'qwen3', 'gemma3'] as const;

export const architectureSchema = z.object({
  name: z.enum(trainableArchitectures),
  layers: z.int().min(1),
  width: z.int().min(1),
  heads: z.int().min(1),
  kvHeads: z.int().min(1),
  headSize: z.int().min(1),
  /** Width inside the feed-forward part. */
  hidden: z.int().min(1),
  vocabulary: z.int().min(1),
  contextLength: z.int().min(1),
  epsilon: z.number().positive(),
  ropeDimensions: z.int().min(1),
  ropeBase: z.number().positive(),
  /** 1 / factor for linear scaling. */
  ropeScale: z.number().positive(),
  /** Tokens a sliding-window layer sees, itself included; null: all layers see everything. */
  window: z.int().min(1).nullable(),
  /** Of so many layers the last sees everything, the others a window. */
  windowPattern: z.int().min(1),
  windowRopeBase: z.number().positive(),
  attentionScale: z.number().positive(),
});
export type Architecture = z.infer<typeof architectureSchema>;

/** Where a tensor lies in its file; `type` is ggml's number. */
export const storedTensorSchema = z.object({
  name: z.string(),
  /** ggml's order: [in, out] for a matrix. */
  shape: z.array(z.int().min(1)).min(1).max(4),
  type: z.int(),
  /** Bytes from the start of the file. */
  offset: z.int().nonnegative(),
  bytes: z.int().positive(),
});
export type StoredTensor = z.infer<typeof storedTensorSchema>;

export const loraSchema = z.object({
  rank: z.int().min(1).max(1024),
  alpha: z.number().positive(),
  targets: z.array(z.string()).min(1),
});
export type LoraSettings = z.infer<typeof loraSchema>;

export const trainingModeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('full') }),
  z.object({ kind: z.literal('lora'), lora: loraSchema }),
]);
export type TrainingMode = z.infer<typeof trainingModeSchema>;

/** A table larger than this (numbers) gets no transposed copy: its gradient takes the slower way without one. */
export const largestTransposed = 32 * 1024 * 1024;

const fileSchema = z.object({ file: z.string().min(1), tensors: z.array(storedTensorSchema).min(1) });

export const openParamsSchema = z.object({
  architecture: architectureSchema,
  base: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('file'), ...fileSchema.shape }),
    /** Fresh weights; only with the mode `full`. */
    z.object({ kind: z.literal('random'), seed: z.int(), tiedEmbeddings: z.boolean() }),
  ]),
  mode: trainingModeSchema,
  /** LoRA matrices to continue from, named `….lora_a` and `….lora_b`. */
  adapter: fileSchema.nullable(),
  /** Also train a value head on the last hidden state (PPO). */
  valueHead: z.boolean(),
  device: trainingDeviceSchema,
  threads: z.int().min(1),
  seed: z.int(),
  adam: z.object({
    beta1: z.number(),
    beta2: z.number(),
    epsilon: z.number(),
    weightDecay: z.number(),
    /** Gradients longer than this are shortened to it; 0: never. */
    clipNorm: z.number(),
    /** Orthogonalised momentum for the matrices of a whole model; its rate is `rateFactor` times the learning rate. */
    muon: z.object({ momentum: z.number(), rateFactor: z.number().positive() }).nullable(),
  }),
  limits: z.object({
    /** Longest block of a forest, and most tokens computed at once, padding included. */
    longestBlock: z.int().min(64),
    mostTokens: z.int().min(64),
    share: z.boolean(),
  }),
});
export type OpenParams = z.infer<typeof openParamsSchema>;

const int32 = z.custom<Int32Array>((value) => value instanceof Int32Array, 'an Int32Array');
const float32 = z.custom<Float32Array>((value) => value instanceof Float32Array, 'a Float32Array');

/** A longer gradient stops the training before it changes anything; `rule` says where the limit comes from. */
const stopNormSchema = z.object({ norm: z.number().positive(), rule: z.string() });
export type StopNorm = z.infer<typeof stopNormSchema>;

export const scoreRowSchema = z.object({
  tokens: int32,
  /** Positions p ≥ 1, ascending, whose tokens are targets. */
  targets: int32,
});

/** All arrays are by target. */
export const trainRowSchema = scoreRowSchema.extend({
  /** Share of each target in the loss: the normaliser lives in it. */
  weights: float32,
  advantages: float32.optional(),
  /** Log-probabilities of the policy that sampled, of the reference, old values and returns. */
  old: float32.optional(),
  reference: float32.optional(),
  oldValues: float32.optional(),
  returns: float32.optional(),
});
export type TrainRow = z.infer<typeof trainRowSchema>;
export type ScoreRow = z.infer<typeof scoreRowSchema>;

export const objectiveSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('likelihood') }),
  z.object({
    kind: z.literal('policy'),
    clipLow: z.number().positive(),
    clipHigh: z.number().positive(),
    klCoefficient: z.number().nonnegative(),
    valueCoefficient: z.number().nonnegative(),
    valueClip: z.number().positive(),
  }),
  /** Rows 2i are preferred to rows 2i + 1. */
  z.object({ kind: z.literal('preference'), beta: z.number().positive() }),
]);
export type ObjectiveSpec = z.infer<typeof objectiveSchema>;

export const stepMetricsSchema = z.object({
  update: z.int(),
  loss: z.number(),
  gradientNorm: z.number(),
  learningRate: z.number(),
  targets: z.int(),
  flatTokens: z.int(),
  forestTokens: z.int(),
  /** With padding. */
  computedTokens: z.int(),
  ms: z.number(),
  /** Of the objective, such as `kl`, `clipShare`, `accuracy`. */
  extra: z.record(z.string(), z.number()),
});
export type StepMetrics = z.infer<typeof stepMetricsSchema>;

export const openedSchema = z.object({
  device: z.string(),
  trainable: z.int(),
  weightBytes: z.number(),
});

export const trainerMethods = {
  /** Opens a device and lets it go again; its name. One library a process: ask another process for another device. */
  probe: { params: z.object({ device: trainingDeviceSchema }), result: z.object({ name: z.string() }) },
  open: { params: openParamsSchema, result: openedSchema },
  score: {
    params: z.object({ rows: z.array(scoreRowSchema), adapters: z.boolean() }),
    result: z.array(float32),
  },
  step: {
    params: z.object({
      rows: z.array(trainRowSchema).min(1),
      objective: objectiveSchema,
      learningRate: z.number(),
      /** null: only a loss or a gradient that is no finite number stops. */
      stopNorm: stopNormSchema.nullable(),
    }),
    result: stepMetricsSchema,
  },
  /** The gradient itself, one array a parameter, without a step (oracles, tests). */
  gradient: {
    params: z.object({ rows: z.array(trainRowSchema).min(1), objective: objectiveSchema }),
    result: z.object({ loss: z.number(), gradients: z.record(z.string(), float32) }),
  },
  /** Trainable tensors and optimiser state into one file, atomically; `note` comes back with `restore`. */
  save: { params: z.object({ file: z.string(), note: z.json() }), result: z.object({ bytes: z.number() }) },
  restore: { params: z.object({ file: z.string() }), result: z.object({ update: z.int(), note: z.json() }) },
  /** The trainable tensors by name. */
  weights: {
    params: z.object({}),
    result: z.array(z.object({ name: z.string(), shape: z.array(z.int()), values: float32 })),
  },
  /** The adapted matrices of a LoRA model with their adapters added: W + alpha / rank · B A. */
  merged: {
    params: z.object({}),
    result: z.array(z.object({ name: z.string(), shape: z.array(z.int()), values: float32 })),
  },
} as const;
export type TrainerMethod = keyof typeof trainerMethods;
export type TrainerParams<Method extends TrainerMethod> = z.input<(typeof trainerMethods)[Method]['params']>;
export type TrainerResult<Method extends TrainerMethod> = z.output<(typeof trainerMethods)[Method]['result']>;
