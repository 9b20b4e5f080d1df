import { z } from 'zod';
import { environmentIdSchema, sha256Schema, taskIdSchema } from '#shared/ids.ts';

export const splitSchema = z.enum(['train', 'development', 'seen', 'unseen']);
export type Split = z.infer<typeof splitSchema>;
/** The one split that demonstrations and training data come from: a model must not be trained on tasks that it is measured on. */
export const trainingSplit = 'train' satisfies Split;

export const environmentDescriptionSchema = z.object({
  id: environmentIdSchema,
  title: z.string(),
  summary: z.string(),
  version: z.string(),
  /** Over everything that decides a task's content: equal checksum = equal tasks. */
  dataChecksum: sha256Schema,
  licence: z.string(),
  family: z.string(),
  /** The benchmark of the papers whose tasks it has or follows, e.g. `ALFWorld`. */
  standsBeside: z.string(),
  actionMode: z.enum(['enumerable', 'text', 'tools', 'web']),
  snapshot: z.enum(['native', 'replay']),
  deterministic: z.boolean(),
  needsUserModel: z.boolean(),
  expert: z.enum(['solver', 'dataset', 'none']),
  maxSteps: z.int().positive(),
  taskTypes: z.array(z.string()),
  splits: z.array(z.object({ split: splitSchema, tasks: z.int().nonnegative() })),
  /** How an action looks, with examples: part of the agent's system prompt. */
  actionGuide: z.string(),
  /** Read from a folder that the user added; null for bundled worlds. */
  folder: z.string().nullable(),
});
export type EnvironmentDescription = z.infer<typeof environmentDescriptionSchema>;

export const taskSchema = z.object({
  taskId: taskIdSchema,
  environmentId: environmentIdSchema,
  family: z.string(),
  split: splitSchema,
  type: z.string(),
  instruction: z.string(),
  meta: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
export type Task = z.infer<typeof taskSchema>;

/** What the policy sees. `admissible` is null where the family cannot enumerate its actions. */
export const observationSchema = z.object({
  text: z.string(),
  admissible: z.array(z.string()).nullable(),
});
export type Observation = z.infer<typeof observationSchema>;

export const stepOutcomeSchema = z.object({
  observation: observationSchema,
  /** The family's native metric: for household 1 when the goal is reached by this step, else 0. */
  reward: z.number(),
  /** The task ended by its own rules (success or failure). */
  terminated: z.boolean(),
  /** The step limit ended it. Never mixed with `terminated`. */
  truncated: z.boolean(),
  success: z.boolean(),
  /** false: the environment did not understand or allow the action; reward 0, a step was spent. */
  valid: z.boolean(),
});
export type StepOutcome = z.infer<typeof stepOutcomeSchema>;

export const conformanceResultSchema = z.object({
  environmentId: environmentIdSchema,
  at: z.int(),
  rules: z.array(
    z.object({
      rule: z.string(),
      passed: z.boolean(),
      checked: z.int(),
      unit: z.string(),
      detail: z.string(),
    }),
  ),
});
export type ConformanceResult = z.infer<typeof conformanceResultSchema>;
