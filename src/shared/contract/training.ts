import { procedure } from '#shared/contract/base.ts';
import { jobSchema } from '#shared/schema/job.ts';
import { trainRunSchema } from '#shared/schema/training.ts';

export const trainingContract = {
  /** Checks model, data set and adapter before a job exists. */
  start: procedure.input(trainRunSchema).output(jobSchema),
};
