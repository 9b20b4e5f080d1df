import { z } from 'zod';
import { pageInput, pageOf, procedure } from '#shared/contract/base.ts';
import { environmentIdSchema, episodeIdSchema, taskIdSchema } from '#shared/ids.ts';
import {
  conformanceResultSchema,
  environmentDescriptionSchema,
  observationSchema,
  splitSchema,
  taskSchema,
} from '#shared/schema/environment.ts';

/** One move of a game played by hand. */
export const playMoveSchema = z.object({
  action: z.string(),
  observation: observationSchema,
  reward: z.number(),
  valid: z.boolean(),
  terminated: z.boolean(),
  truncated: z.boolean(),
  success: z.boolean(),
});
export const playStateSchema = z.object({
  playId: z.string(),
  task: taskSchema,
  seed: z.int(),
  initial: observationSchema,
  moves: z.array(playMoveSchema),
  maxSteps: z.int(),
  /** What the expert would do now; null when it does not know. */
  hint: z.string().nullable(),
  finished: z.boolean(),
});
export type PlayState = z.infer<typeof playStateSchema>;
const byPlay = z.object({ playId: z.string() });

/** Of the conformance suite. */
export const tasksPerSplitSchema = z.int().min(1).max(5000).default(20);

export const environmentsContract = {
  list: procedure.output(z.array(environmentDescriptionSchema)),
  /** Added folders that are away now; `list` leaves them out. */
  missing: procedure.output(z.array(z.object({ environmentId: environmentIdSchema, folder: z.string() }))),
  get: procedure.input(z.object({ environmentId: environmentIdSchema })).output(environmentDescriptionSchema),
  tasks: procedure
    .input(
      pageInput.extend({
        environmentId: environmentIdSchema,
        split: splitSchema.optional(),
        type: z.string().optional(),
        text: z.string().optional(),
      }),
    )
    .output(pageOf(taskSchema)),
  /** Runs the conformance suite on a sample of each split. */
  check: procedure
    .input(z.object({ environmentId: environmentIdSchema, tasksPerSplit: tasksPerSplitSchema }))
    .output(conformanceResultSchema),
  lastCheck: procedure
    .input(z.object({ environmentId: environmentIdSchema }))
    .output(conformanceResultSchema.nullable()),
  /** Adds a folder of official ALFWorld games as an environment; bad files are reported and left out. */
  addAlfworld: procedure
    .input(z.object({ folder: z.string().min(1), id: environmentIdSchema.optional() }))
    .output(
      z.object({
        environment: environmentDescriptionSchema,
        games: z.int(),
        rejected: z.array(z.object({ file: z.string(), reason: z.string() })),
      }),
    ),
  /** Writes tasks as the original ALFWorld's files, all or nothing; a folder that is not empty is refused. */
  writeTasks: procedure
    .input(
      z.object({
        environmentId: environmentIdSchema,
        split: splitSchema.nullable().default(null),
        taskTypes: z.array(z.string()).default([]),
        tasksPerSplit: z.int().min(1).nullable().default(null),
        folder: z.string().min(1),
      }),
    )
    .output(
      z.object({
        folder: z.string(),
        tasks: z.int(),
        files: z.int(),
        bytes: z.int(),
        splits: z.array(z.object({ split: splitSchema, tasks: z.int() })),
      }),
    ),
  remove: procedure
    .input(z.object({ environmentId: environmentIdSchema }))
    .output(z.object({ removed: z.boolean() })),
  play: {
    open: procedure
      .input(z.object({ environmentId: environmentIdSchema, taskId: taskIdSchema, seed: z.int().default(1) }))
      .output(playStateSchema),
    get: procedure.input(byPlay).output(playStateSchema),
    act: procedure.input(byPlay.extend({ action: z.string().max(10_000) })).output(playStateSchema),
    undo: procedure.input(byPlay).output(playStateSchema),
    close: procedure.input(byPlay).output(z.object({ closed: z.boolean() })),
    /** Stores the game as a human episode; `recorded` takes it as a demonstration where it succeeded on a task of the training split. */
    record: procedure
      .input(byPlay)
      .output(z.object({ episodeId: episodeIdSchema, demonstration: z.boolean() })),
  },
};
