import { z } from 'zod';
import { procedure } from '#shared/contract/base.ts';
import { jobSchema } from '#shared/schema/job.ts';
import { presetSchema, runEstimateSchema, runProblemSchema, runSchema } from '#shared/schema/run.ts';

export const runsContract = {
  presets: procedure.output(z.array(presetSchema)),
  savePreset: procedure
    .input(z.object({ title: z.string().min(1).max(120), yaml: z.string() }))
    .output(presetSchema),
  removePreset: procedure
    .input(z.object({ presetId: z.string() }))
    .output(z.object({ removed: z.boolean() })),
  /** YAML text → run, or problems with path and line. Checks against environments and models too; estimates when valid. */
  check: procedure.input(z.object({ yaml: z.string().max(1_000_000) })).output(
    z.object({
      run: runSchema.nullable(),
      problems: z.array(runProblemSchema),
      estimate: runEstimateSchema.nullable(),
      deviations: z.array(z.object({ label: z.string(), reason: z.string() })),
      /** The command line that does the same. */
      command: z.string(),
    }),
  ),
  start: procedure.input(z.object({ yaml: z.string().max(1_000_000) })).output(jobSchema),
};
