import { procedure } from '#shared/contract/base.ts';
import { z } from 'zod';
import { modelSchema } from '#shared/schema/model.ts';
import { jobSchema } from '#shared/schema/job.ts';
import { trainRunSchema } from '#shared/schema/training.ts';

export const trainingContract = {
  /** Checks model, data set and adapter before a job exists. */
  start: procedure.input(trainRunSchema).output(jobSchema),
  /** Base and adapter → a model file of its own, registered. */
  merge: procedure
    .input(z.object({ base: z.string().min(1), adapter: z.string().min(1), file: z.string().min(1) }))
    .output(modelSchema),
};
