import { z } from 'zod';

export const jobIdSchema = z.string().min(1).brand<'JobId'>();
export type JobId = z.infer<typeof jobIdSchema>;

/** Deterministic: hash(task, seed, policy key, rollout index). The same work has the same id, so it is never stored twice. */
export const episodeIdSchema = z.string().min(1).brand<'EpisodeId'>();
export type EpisodeId = z.infer<typeof episodeIdSchema>;

/** Deterministic within its job: hash(job, episode, step, purpose, index, canonical action). */
export const branchIdSchema = z.string().min(1).brand<'BranchId'>();
export type BranchId = z.infer<typeof branchIdSchema>;

export const reflectionIdSchema = z.string().min(1).brand<'ReflectionId'>();
export type ReflectionId = z.infer<typeof reflectionIdSchema>;

/** First 16 hexadecimal digits of the SHA-256 of the GGUF file, or of URL + model name for an HTTP model. */
export const modelIdSchema = z.string().min(1).brand<'ModelId'>();
export type ModelId = z.infer<typeof modelIdSchema>;

export const datasetIdSchema = z.string().min(1).brand<'DatasetId'>();
export type DatasetId = z.infer<typeof datasetIdSchema>;

/** `household`, `household-small`, or a user-added folder such as `alfworld`. */
export const environmentIdSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/)
  .brand<'EnvironmentId'>();
export type EnvironmentId = z.infer<typeof environmentIdSchema>;

/** Unique within its environment, stable across versions of the same data. */
export const taskIdSchema = z.string().min(1).brand<'TaskId'>();
export type TaskId = z.infer<typeof taskIdSchema>;

/** Lower-case SHA-256, 64 hexadecimal digits. */
export const sha256Schema = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .brand<'Sha256'>();
export type Sha256 = z.infer<typeof sha256Schema>;
