/** What each stage of the pipeline is given: the whole run and the jobs whose rows it reads. */
import { z } from 'zod';
import { jobIdSchema } from '#shared/ids.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';

export const demonstrationsSpecSchema = z.object({ run: earlyExperienceRunSchema });
export const branchingSpecSchema = z.object({
  run: earlyExperienceRunSchema,
  demonstrationsJobId: jobIdSchema,
});
export const reflectionSpecSchema = branchingSpecSchema.extend({ branchingJobId: jobIdSchema });
export const exportSpecSchema = branchingSpecSchema.extend({
  /** The pipeline: what the data set belongs to. */
  pipelineJobId: jobIdSchema.nullable(),
  branchingJobId: jobIdSchema.nullable(),
  reflectionJobId: jobIdSchema.nullable(),
  name: z.string(),
});

export type DemonstrationsSpec = z.infer<typeof demonstrationsSpecSchema>;
export type BranchingSpec = z.infer<typeof branchingSpecSchema>;
export type ReflectionSpec = z.infer<typeof reflectionSpecSchema>;
export type ExportSpec = z.infer<typeof exportSpecSchema>;
