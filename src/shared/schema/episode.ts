import { z } from 'zod';
import {
  environmentIdSchema,
  episodeIdSchema,
  jobIdSchema,
  modelIdSchema,
  sha256Schema,
  taskIdSchema,
} from '#shared/ids.ts';
import { errorRecordSchema } from '#shared/errors.ts';
import { splitSchema } from '#shared/schema/environment.ts';

export const episodePurposeSchema = z.enum(['rollout', 'demonstration', 'human', 'evaluation']);
export type EpisodePurpose = z.infer<typeof episodePurposeSchema>;

/**
 * running → finished | abandoned | failed. `finished`: terminated or truncated by the environment or a limit of the loop.
 * `abandoned`: the host died, the job was cancelled, or the infrastructure failed and it was begun again; kept, never counted as a
 * result and never trained on. `failed`: an infrastructure error, not tried again.
 */
export const episodeStatusSchema = z.enum(['running', 'finished', 'abandoned', 'failed']);

/** Why a finished episode ended. */
export const endReasonSchema = z.enum([
  'terminated',
  'step-limit',
  'token-limit',
  'context-full',
  'invalid-limit',
  // It had nothing more to do: a demonstration that was imported and stops before the goal.
  'policy-ended',
]);
export type EndReason = z.infer<typeof endReasonSchema>;

/** Everything that decided the policy's behaviour. Hashed into `policyKey`. */
export const policyFactsSchema = z.object({
  kind: z.enum(['model', 'solver', 'human', 'imported', 'scripted']),
  modelId: modelIdSchema.nullable(),
  modelSha256: sha256Schema.nullable(),
  adapterSha256: z.array(sha256Schema),
  chatTemplateHash: sha256Schema.nullable(),
  settings: z.json(),
});
export type PolicyFacts = z.infer<typeof policyFactsSchema>;

export const episodeSchema = z.object({
  episodeId: episodeIdSchema,
  jobId: jobIdSchema.nullable(),
  purpose: episodePurposeSchema,
  environmentId: environmentIdSchema,
  environmentVersion: z.string(),
  dataChecksum: sha256Schema,
  taskId: taskIdSchema,
  taskType: z.string(),
  split: splitSchema,
  instruction: z.string(),
  policy: policyFactsSchema,
  policyKey: z.string(),
  policyLabel: z.string(),
  seed: z.int(),
  rolloutIndex: z.int().nonnegative(),
  status: episodeStatusSchema,
  endReason: endReasonSchema.nullable(),
  success: z.boolean(),
  /** Sum of step rewards, in the family's native metric. */
  totalReward: z.number(),
  steps: z.int().nonnegative(),
  invalidActions: z.int().nonnegative(),
  parseFailures: z.int().nonnegative(),
  /** Of the whole episode, in the model's tokens; 0 also where the model's server does not tell. */
  promptTokens: z.int().nonnegative(),
  evaluatedPromptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  modelMs: z.int().nonnegative(),
  environmentMs: z.int().nonnegative(),
  /** Times this episode was restarted after an infrastructure failure. */
  retries: z.int().nonnegative(),
  /** 1 at first; one more each time that it was begun again after steps of it were stored. */
  attempt: z.int().positive(),
  /** An attempt that was begun again has an id of its own, and this names the episode that took its place; null: the last attempt. */
  replacedBy: episodeIdSchema.nullable(),
  initialObservation: z.string(),
  initialAdmissible: z.array(z.string()).nullable(),
  error: errorRecordSchema.nullable(),
  startedAt: z.int(),
  finishedAt: z.int().nullable(),
});
export type Episode = z.infer<typeof episodeSchema>;

export const parseStatusSchema = z.enum(['ok', 'no-action', 'several-actions', 'empty-action', 'unclosed']);
export type ParseStatus = z.infer<typeof parseStatusSchema>;

/**
 * One model call of a step: the very ids that were evaluated and sampled.
 * `promptTokens` holds only the ids after the first `promptPrefixLength` ones, which equal the previous step's
 * prompt + completion ids. Natural-log probabilities, one for each completion id, under the model's own soft-max
 * (temperature 1, no filter, no grammar).
 */
export const stepTokensSchema = z.object({
  promptPrefixLength: z.int().nonnegative(),
  promptTokens: z.array(z.int()),
  completionTokens: z.array(z.int()),
  logprobs: z.array(z.number()),
  /** Prompt ids that had to be evaluated for this call (not found in the KV cache). */
  evaluatedPromptTokens: z.int().nonnegative(),
});
export type StepTokens = z.infer<typeof stepTokensSchema>;

/** Step t: action a_t taken in s_t, and what came back. s_t itself is step t−1's observation (t = 0: the episode's initial one). */
export const stepSchema = z.object({
  episodeId: episodeIdSchema,
  stepIndex: z.int().nonnegative(),
  /** SHA-256 of the rendered prompt text; null where no model was asked. */
  promptHash: sha256Schema.nullable(),
  tokens: stepTokensSchema.nullable(),
  completion: z.string().nullable(),
  thought: z.string().nullable(),
  action: z.string(),
  parseStatus: parseStatusSchema,
  valid: z.boolean(),
  observation: z.string(),
  admissible: z.array(z.string()).nullable(),
  /** SHA-256 over the observation text and the admissible list: the proof that two states look the same. */
  observationHash: sha256Schema,
  reward: z.number(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  error: errorRecordSchema.nullable(),
  modelMs: z.int().nonnegative(),
  environmentMs: z.int().nonnegative(),
  createdAt: z.int(),
});
export type Step = z.infer<typeof stepSchema>;

/** Row of the trajectory list: no large texts. */
export const episodeRowSchema = episodeSchema.omit({
  initialObservation: true,
  initialAdmissible: true,
  policy: true,
});
export type EpisodeRow = z.infer<typeof episodeRowSchema>;

/** Filters of the trajectory list; all in SQL, all indexed. */
export const episodeFilterSchema = z.object({
  environmentId: environmentIdSchema.optional(),
  split: splitSchema.optional(),
  taskType: z.string().optional(),
  purpose: episodePurposeSchema.optional(),
  status: episodeStatusSchema.optional(),
  /** Of finished ones: what broke off is neither a success nor a failure. */
  success: z.boolean().optional(),
  jobId: jobIdSchema.optional(),
  policyKey: z.string().optional(),
  taskId: taskIdSchema.optional(),
  errorCode: z.string().optional(),
  hasInvalid: z.boolean().optional(),
  minimumSteps: z.int().optional(),
  maximumSteps: z.int().optional(),
  /** Matches in the instruction. */
  text: z.string().optional(),
});
export type EpisodeFilter = z.infer<typeof episodeFilterSchema>;
