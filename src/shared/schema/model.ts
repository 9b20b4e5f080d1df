import { z } from 'zod';
import { modelIdSchema, sha256Schema } from '#shared/ids.ts';
import { errorRecordSchema } from '#shared/errors.ts';

export const modelKindSchema = z.enum(['gguf', 'http', 'scripted']);

/** Read from the GGUF header without loading weights. Sizes in bytes. */
export const ggufFactsSchema = z.object({
  architecture: z.string(),
  name: z.string().nullable(),
  parameters: z.int().nonnegative(),
  quantisation: z.string(),
  layers: z.int().nonnegative(),
  contextLength: z.int().nonnegative(),
  embeddingLength: z.int().nonnegative(),
  vocabularySize: z.int().nonnegative(),
  hasChatTemplate: z.boolean(),
  chatTemplateHash: sha256Schema.nullable(),
});
export type GgufFacts = z.infer<typeof ggufFactsSchema>;

export const modelSchema = z.object({
  modelId: modelIdSchema,
  kind: modelKindSchema,
  name: z.string(),
  /** Absolute path of the GGUF, or the base URL of an OpenAI-compatible server. */
  location: z.string(),
  /** The server's model name; null for files. */
  remoteName: z.string().nullable(),
  sizeBytes: z.int().nonnegative(),
  sha256: sha256Schema.nullable(),
  facts: ggufFactsSchema.nullable(),
  /** Why it cannot be used, in words; null when its header reads well. */
  problem: errorRecordSchema.nullable(),
  addedAt: z.int(),
});
export type Model = z.infer<typeof modelSchema>;

/** Memory that a load would take, before loading. Bytes. */
export const fitEstimateSchema = z.object({
  weightsBytes: z.int(),
  /**
   * Matrices that a processor with AMX keeps once more beside the mapped file; 0 without. Not in the total: the file's pages are counted as
   * free by the system, which drops them when it needs room.
   */
  copiedBytes: z.int(),
  kvCacheBytes: z.int(),
  computeBytes: z.int(),
  totalBytes: z.int(),
  availableBytes: z.int(),
  fits: z.boolean(),
  contextTokens: z.int(),
  sequences: z.int(),
  gpuLayers: z.int(),
  totalLayers: z.int(),
  /** What to change when it does not fit; empty when it does. */
  advice: z.string(),
});
export type FitEstimate = z.infer<typeof fitEstimateSchema>;

/** Tokens per second for each thread count tried, measured once per machine and model. */
export const threadCalibrationSchema = z.object({
  modelId: modelIdSchema,
  machine: z.string(),
  threads: z.int().positive(),
  trials: z.array(z.object({ threads: z.int(), tokensPerSecond: z.number() })),
  /** Logical cores that others kept busy just before or after, a mean; null: measured before this was noted. */
  busyCores: z.number().nonnegative().nullable().default(null),
  at: z.int(),
});
export type ThreadCalibration = z.infer<typeof threadCalibrationSchema>;

/** From half a core on, the measured rates are not those of a quiet machine, and the thread count may be wrong. */
export function measuredWhileBusy({ busyCores }: Pick<ThreadCalibration, 'busyCores'>): boolean {
  return busyCores !== null && busyCores >= 0.5;
}

export const adapterRefSchema = z.object({ path: z.string().min(1), scale: z.number().default(1) });
export type AdapterRef = z.infer<typeof adapterRefSchema>;

export const samplingSchema = z
  .object({
    temperature: z.number().min(0).max(5).default(0.4).meta({
      title: 'Temperature',
      help: 'ALFWorld is decoded at 0.4 in the paper; 0 is greedy.',
      paper: '0.4',
    }),
    topK: z.int().min(0).default(0).meta({ title: 'Top-k', help: '0 keeps every token.', advanced: true }),
    topP: z
      .number()
      .gt(0)
      .max(1)
      .default(1)
      .meta({ title: 'Top-p', help: '1 keeps every token.', advanced: true }),
    minP: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .meta({ title: 'Min-p', help: '0 keeps every token.', advanced: true }),
  })
  .meta({ title: 'Sampling' });
export type Sampling = z.infer<typeof samplingSchema>;

/**
 * `chat`: the GGUF's own template. `completion`: the documented plain-text format with few-shot examples for base models
 * without a template (docs/guide/models.md). `auto`: chat where a template exists, else completion.
 */
export const promptFormatSchema = z.enum(['auto', 'chat', 'completion']);
export type PromptFormat = z.infer<typeof promptFormatSchema>;
