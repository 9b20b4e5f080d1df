import { z } from 'zod';
import { idPrefixInput, pageInput, pageOf, procedure } from '#shared/contract/base.ts';
import {
  branchIdSchema,
  episodeIdSchema,
  jobIdSchema,
  reflectionIdSchema,
  sha256Schema,
} from '#shared/ids.ts';
import { branchSchema, reflectionFlagSchema, reflectionSchema } from '#shared/schema/branch.ts';
import { episodeFilterSchema, episodeRowSchema, episodeSchema, stepSchema } from '#shared/schema/episode.ts';

const byEpisode = z.object({ episodeId: episodeIdSchema });
const byState = byEpisode.extend({ stepIndex: z.int().nonnegative() });

export const episodeSortSchema = z.enum(['newest', 'oldest', 'reward', 'steps']);

/** Exactly what the model saw at a step, by message; `isNew` marks what was added since the previous step. */
export const renderedPromptSchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string(), isNew: z.boolean() })),
  tokens: z
    .array(
      z.object({
        id: z.int(),
        text: z.string(),
        logprob: z.number().nullable(),
        part: z.enum(['prompt', 'completion']),
      }),
    )
    .nullable(),
  /** Why something is left out (token texts need the model, the action guide its environment); empty when all is there. */
  missing: z.string().default(''),
});

/** `inIwm`: whether an export of its run writes a row of `iwm_sft` from it; null: the run is gone, and with it what it wanted. */
const markedBranchSchema = branchSchema.extend({ inIwm: z.boolean().nullable() });
export type MarkedBranch = z.infer<typeof markedBranchSchema>;

/**
 * `exported`: whether an export of its run now writes it into `reflection_sft`. Of several attempts at a text at most one is, and none of
 * a run that was removed.
 */
const markedReflectionSchema = reflectionSchema.extend({ exported: z.boolean(), runRemoved: z.boolean() });
export type MarkedReflection = z.infer<typeof markedReflectionSchema>;

export const episodesContract = {
  list: procedure
    .input(
      pageInput.extend({
        filter: episodeFilterSchema.default({}),
        sort: episodeSortSchema.default('newest'),
      }),
    )
    .output(pageOf(episodeRowSchema)),
  /** Values that occur, for the filter menus. */
  facets: procedure.output(
    z.object({
      environments: z.array(z.string()),
      taskTypes: z.array(z.string()),
      policies: z.array(z.object({ policyKey: z.string(), label: z.string() })),
      errorCodes: z.array(z.string()),
    }),
  ),
  get: procedure.input(byEpisode).output(
    z.object({
      episode: episodeSchema,
      /** Without token arrays; `step` brings them. */
      steps: z.array(
        stepSchema.omit({ tokens: true }).extend({
          branches: z.int(),
          /** 0 where no model wrote, or its server lists neither ids nor log-probabilities. */
          completionTokens: z.int(),
          /** Of s_t, the state in which the action was taken; `observationHash` is the hash of s_{t+1}, its outcome. */
          stateHash: sha256Schema,
        }),
      ),
      /** Data sets that hold rows of this episode. */
      datasets: z.array(z.object({ datasetId: z.string(), name: z.string() })),
    }),
  ),
  find: procedure.input(idPrefixInput).output(z.array(episodeIdSchema)),
  step: procedure.input(byState).output(stepSchema),
  prompt: procedure.input(byState).output(renderedPromptSchema),
  /** Neighbours in the list's order, for J/K. */
  neighbours: procedure
    .input(
      byEpisode.extend({
        filter: episodeFilterSchema.default({}),
        sort: episodeSortSchema.default('newest'),
      }),
    )
    .output(z.object({ previous: episodeIdSchema.nullable(), next: episodeIdSchema.nullable() })),
  branches: procedure.input(byEpisode).output(z.array(markedBranchSchema)),
  reflections: {
    /** Without an episode: of the runs that are still there. What a removed run left is listed with its episode. */
    list: procedure
      .input(
        pageInput.extend({
          episodeId: episodeIdSchema.optional(),
          jobId: jobIdSchema.optional(),
          flag: reflectionFlagSchema.optional(),
          decision: z.enum(['pending', 'keep', 'drop']).optional(),
          kept: z.boolean().optional(),
        }),
      )
      .output(pageOf(markedReflectionSchema)),
    review: procedure
      .input(
        z.object({
          reflectionId: reflectionIdSchema,
          decision: z.enum(['pending', 'keep', 'drop']),
          reason: z.string().max(2000).default(''),
        }),
      )
      .output(reflectionSchema),
  },
  branch: procedure.input(z.object({ branchId: branchIdSchema })).output(branchSchema),
};
