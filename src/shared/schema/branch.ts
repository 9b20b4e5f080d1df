import { z } from 'zod';
import {
  branchIdSchema,
  episodeIdSchema,
  jobIdSchema,
  modelIdSchema,
  reflectionIdSchema,
  sha256Schema,
} from '#shared/ids.ts';
import { errorRecordSchema } from '#shared/errors.ts';

/** IWM and SR use different samplers in the paper (section 1.4); a branch belongs to one of them. The expert triple serves both. */
export const branchPurposeSchema = z.enum(['expert', 'iwm', 'sr']);
export type BranchPurpose = z.infer<typeof branchPurposeSchema>;

/**
 * `refill`: a uniform unused admissible action that replaced a bad or duplicate proposal so that K stays constant. `unasked`: one that stands
 * where the policy was to propose and was not asked, because its prompt did not fit.
 */
export const branchSourceSchema = z.enum(['expert', 'uniform', 'policy', 'refill', 'unasked']);
export type BranchSource = z.infer<typeof branchSourceSchema>;

/**
 * One really executed action from an expert state: (s_i, a_i^j, s_i^j) of Eq. 2. Depth is one step.
 * A branch whose start could not be proved equal is `rejected`: counted and shown, never used.
 */
export const branchSchema = z.object({
  branchId: branchIdSchema,
  /** The demonstration, and the index of the state s_i in it. */
  episodeId: episodeIdSchema,
  stepIndex: z.int().nonnegative(),
  jobId: jobIdSchema.nullable(),
  purpose: branchPurposeSchema,
  source: branchSourceSchema,
  /** j of a_i^j, from 0; the expert triple has 0. */
  alternativeIndex: z.int().nonnegative(),
  action: z.string(),
  canonicalAction: z.string(),
  admissible: z.boolean(),
  valid: z.boolean(),
  observation: z.string(),
  /** Equal to the expert's outcome text: an alternative that changes nothing visible teaches little. */
  sameAsExpert: z.boolean(),
  reward: z.number(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  success: z.boolean(),
  status: z.enum(['accepted', 'rejected']),
  rejectReason: z.string().nullable(),
  /** `expectedHash` is the demonstration's observation hash at s_i, `observedHash` what this branch saw before acting. */
  proof: z.object({
    method: z.enum(['snapshot', 'replay']),
    expectedHash: sha256Schema,
    observedHash: sha256Schema,
    prefixLength: z.int().nonnegative(),
  }),
  proposal: z
    .object({
      modelId: modelIdSchema.nullable(),
      raw: z.string(),
      completionTokens: z.array(z.int()),
      logprobs: z.array(z.number()),
      temperature: z.number(),
    })
    .nullable(),
  error: errorRecordSchema.nullable(),
  createdAt: z.int(),
});
export type Branch = z.infer<typeof branchSchema>;

/** The detectors of the spec's part 3. `contradiction`: the text concludes another action than the expert's. */
export const reflectionFlagSchema = z.enum([
  'label-leak',
  'numbering',
  'outcome-narration',
  'scaffold',
  'doubled',
  'contradiction',
  'too-long',
  'too-short',
  'garbled',
  'unrelated',
  'empty',
]);
export type ReflectionFlag = z.infer<typeof reflectionFlagSchema>;

export const reviewSchema = z.object({
  decision: z.enum(['pending', 'keep', 'drop']),
  reason: z.string(),
  at: z.int().nullable(),
});
export type Review = z.infer<typeof reviewSchema>;

export const reflectionSchema = z.object({
  reflectionId: reflectionIdSchema,
  episodeId: episodeIdSchema,
  stepIndex: z.int().nonnegative(),
  jobId: jobIdSchema.nullable(),
  /** The alternatives shown to the generator. */
  branchIds: z.array(branchIdSchema),
  expertAction: z.string(),
  text: z.string(),
  /** Generator's prompt and raw answer, for reading. */
  prompt: z.string(),
  raw: z.string(),
  generatorModelId: modelIdSchema.nullable(),
  generatorLabel: z.string(),
  completionTokens: z.array(z.int()),
  logprobs: z.array(z.number()),
  attempt: z.int().nonnegative(),
  flags: z.array(z.object({ flag: reflectionFlagSchema, evidence: z.string() })),
  /** By the filters of the run; a human review overrides it. */
  keptByFilters: z.boolean(),
  droppedBy: z.array(z.string()),
  review: reviewSchema,
  createdAt: z.int(),
});
export type Reflection = z.infer<typeof reflectionSchema>;

/** `paper` applies only the table of section 1.3; `default` adds the checks of part 3. */
export const profileSchema = z.enum(['default', 'paper']);
