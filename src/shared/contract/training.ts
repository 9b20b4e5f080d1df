import { procedure } from '#shared/contract/base.ts';
import { z } from 'zod';
import { jobIdSchema } from '#shared/ids.ts';
import { modelSchema } from '#shared/schema/model.ts';
import { jobSchema } from '#shared/schema/job.ts';
import { lineageStepSchema, trainRunSchema, trainingDeviceFactsSchema } from '#shared/schema/training.ts';

export const trainingContract = {
  /** Checks model, data set and adapter before a job exists. */
  start: procedure.input(trainRunSchema).output(jobSchema),
  /** Each kind of device, with its name or why it cannot be used; found out once. */
  devices: procedure.output(z.array(trainingDeviceFactsSchema)),
  /** The adapters that a training goes on from, oldest first; empty for one that began at its base. */
  lineage: procedure.input(z.object({ jobId: jobIdSchema })).output(z.array(lineageStepSchema)),
  /** Base and adapter → a model file of its own, registered. */
  merge: procedure
    .input(z.object({ base: z.string().min(1), adapter: z.string().min(1), file: z.string().min(1) }))
    .output(modelSchema),
};
