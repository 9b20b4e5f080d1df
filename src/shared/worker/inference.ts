/**
 * What the host and the inference process say to each other. Messages are structured clones (child IPC with advanced
 * serialization, or Electron's parentPort), so token lists and vectors cross without a detour through JSON text.
 * Both ends parse what arrives: the other side may be an older build, or dying.
 */
import { z } from 'zod';
import { errorRecordSchema } from '#shared/errors.ts';
import { adapterRefSchema, promptFormatSchema, samplingSchema } from '#shared/schema/model.ts';

const tokensSchema = z.array(z.int().nonnegative());

export const loadParamsSchema = z.object({
  /** Chosen by the host; loading the same id again is a no-op. */
  loadId: z.string().min(1),
  file: z.string().min(1),
  /** From the GGUF header, to say readably that llama.cpp does not know it. */
  architecture: z.string(),
  adapters: z.array(adapterRefSchema),
  contextTokens: z.int().min(8),
  sequences: z.int().min(1).max(256),
  threads: z.int().min(1),
});
export type LoadParams = z.infer<typeof loadParamsSchema>;

export const loadedSchema = z.object({
  contextTokens: z.int(),
  sequences: z.int(),
  threads: z.int(),
  device: z.string(),
  hasChatTemplate: z.boolean(),
  /** Bytes that llama.cpp really allocated: weights, and KV cache with compute buffers. */
  modelBytes: z.number(),
  contextBytes: z.number(),
});
export type Loaded = z.infer<typeof loadedSchema>;

export const grammarSpecSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('choice'),
    options: z.array(z.string().min(1)).min(1),
    prefix: z.string().optional(),
    suffix: z.string().optional(),
  }),
  z.object({ kind: z.literal('json'), schema: z.unknown() }),
  z.object({ kind: z.literal('gbnf'), source: z.string() }),
]);

const messageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
  tokens: tokensSchema.optional(),
});

export const generateParamsSchema = z.object({
  loadId: z.string(),
  messages: z.array(messageSchema).min(1),
  sessionKey: z.string(),
  n: z.int().min(1).max(1024),
  sampling: samplingSchema,
  seed: z.int(),
  maxTokens: z.int().min(1),
  maxPromptTokens: z.int().min(1).optional(),
  stop: z.array(z.string().min(1)).optional(),
  grammar: grammarSpecSchema.optional(),
  format: promptFormatSchema,
});
export type GenerateParams = z.infer<typeof generateParamsSchema>;

export const generationSchema = z.object({
  text: z.string(),
  tokens: tokensSchema,
  logprobs: z.array(z.number()),
  stopReason: z.enum(['end', 'stop', 'length', 'grammar']),
});

export const generateResultSchema = z.object({
  generations: z.array(generationSchema),
  prompt: z.string(),
  promptTokens: tokensSchema,
  evaluatedPromptTokens: z.int(),
  promptMs: z.number(),
  completionMs: z.number(),
});
export type WorkerGenerateResult = z.infer<typeof generateResultSchema>;

const trialSchema = z.object({ threads: z.int(), tokensPerSecond: z.number() });

/** Method name → what goes in and what comes out. */
export const inferenceMethods = {
  load: { params: loadParamsSchema, result: loadedSchema },
  unload: { params: z.object({ loadId: z.string() }), result: z.boolean() },
  generate: { params: generateParamsSchema, result: generateResultSchema },
  score: {
    params: z.object({ loadId: z.string(), prompt: tokensSchema.min(1), completion: tokensSchema.min(1) }),
    result: z.array(z.number()),
  },
  embed: {
    params: z.object({ loadId: z.string(), texts: z.array(z.string()) }),
    result: z.array(z.custom<Float32Array>((value) => value instanceof Float32Array)),
  },
  /** Rows of training text → the ids that `generate` would have seen and sampled: prompt, and answer with its end of turn. */
  encode: {
    params: z.object({
      loadId: z.string(),
      format: promptFormatSchema,
      rows: z.array(z.array(messageSchema).min(2)),
    }),
    result: z.array(z.object({ prompt: tokensSchema, completion: tokensSchema })),
  },
  tokenize: { params: z.object({ loadId: z.string(), text: z.string() }), result: tokensSchema },
  detokenize: {
    params: z.object({ loadId: z.string(), tokens: tokensSchema }),
    result: z.array(z.string()),
  },
  endSession: { params: z.object({ loadId: z.string(), sessionKey: z.string() }), result: z.boolean() },
  calibrate: {
    params: z.object({
      file: z.string(),
      architecture: z.string(),
      threadCounts: z.array(z.int().min(1)).min(1),
    }),
    result: z.array(trialSchema),
  },
} as const;
export type InferenceMethod = keyof typeof inferenceMethods;
export type InferenceParams<Method extends InferenceMethod> = z.input<
  (typeof inferenceMethods)[Method]['params']
>;
export type InferenceResult<Method extends InferenceMethod> = z.output<
  (typeof inferenceMethods)[Method]['result']
>;

export const workerStatusSchema = z.object({
  device: z.string(),
  loaded: z.array(
    z.object({ loadId: z.string(), busySequences: z.int(), tokensPerSecond: z.number().nullable() }),
  ),
});
export type WorkerStatus = z.infer<typeof workerStatusSchema>;

export const toWorkerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal('cancel'), id: z.int() }),
  z.object({ kind: z.literal('ping') }),
]);
export type ToWorker = z.infer<typeof toWorkerSchema>;

export const fromWorkerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('result'), id: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('error'), id: z.int(), error: errorRecordSchema }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('status'), status: workerStatusSchema }),
  z.object({ kind: z.literal('log'), level: z.enum(['debug', 'info', 'warn', 'error']), text: z.string() }),
]);
export type FromWorker = z.infer<typeof fromWorkerSchema>;
