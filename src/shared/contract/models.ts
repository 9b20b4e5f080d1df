import { z } from 'zod';
import { procedure } from '#shared/contract/base.ts';
import { errorRecordSchema } from '#shared/errors.ts';
import { modelIdSchema } from '#shared/ids.ts';
import {
  fitEstimateSchema,
  modelSchema,
  promptFormatSchema,
  samplingSchema,
  threadCalibrationSchema,
} from '#shared/schema/model.ts';

/** What a model is asked to hold in memory. */
export const fitSizeSchema = z.object({
  contextTokens: z.int().min(64).max(10_000_000).default(4096),
  sequences: z.int().min(1).max(256).default(8),
});
const byId = z.object({ modelId: modelIdSchema });

export const modelsContract = {
  list: procedure.output(z.array(modelSchema)),
  /** Adds a GGUF file or every GGUF below a folder. Unreadable files are listed with their problem. */
  add: procedure.input(z.object({ path: z.string().min(1) })).output(z.array(modelSchema)),
  addHttp: procedure
    .input(z.object({ baseUrl: z.url(), model: z.string().min(1), apiKey: z.string().optional() }))
    .output(modelSchema),
  /** Forgets the entry; the file stays. */
  remove: procedure.input(byId).output(z.object({ removed: z.boolean() })),
  fit: procedure.input(byId.extend(fitSizeSchema.shape)).output(fitEstimateSchema),
  /** Loads it, measures threads once, writes a few tokens. */
  test: procedure.input(byId.extend({ recalibrate: z.boolean().default(false) })).output(
    z.object({
      ok: z.boolean(),
      error: errorRecordSchema.nullable(),
      loadMs: z.int(),
      promptTokensPerSecond: z.number().nullable(),
      completionTokensPerSecond: z.number().nullable(),
      sample: z.string(),
      calibration: threadCalibrationSchema.nullable(),
    }),
  ),
  calibration: procedure.input(byId).output(threadCalibrationSchema.nullable()),
  unload: procedure.input(byId).output(z.object({ unloaded: z.boolean() })),
  /** One answer, to try a model by hand. */
  tryOut: procedure
    .input(
      byId.extend({
        prompt: z.string().min(1).max(100_000),
        format: promptFormatSchema.default('auto'),
        sampling: samplingSchema.prefault({}),
        maxTokens: z.int().min(1).max(2048).default(128),
        seed: z.int().default(1),
      }),
    )
    .output(
      z.object({
        text: z.string(),
        tokens: z.array(z.object({ id: z.int(), text: z.string(), logprob: z.number() })),
        stopReason: z.string(),
        rendered: z.string(),
      }),
    ),
};
