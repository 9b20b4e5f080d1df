import { z } from 'zod';
import { errorCodeSchema } from '#shared/errors.ts';
import { environmentIdSchema } from '#shared/ids.ts';
import { profileSchema } from '#shared/schema/branch.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import { policySchema, reflectorSchema } from '#shared/schema/policy.ts';

/**
 * What a researcher starts: the same shape is the YAML file, the form and the job spec. Titles, units, defaults, the
 * paper's value (`paper`) and the reason (`help`) live here and nowhere else.
 */
const seedField = z.int().min(0).max(2_147_483_647).default(1).meta({
  title: 'Seed',
  help: 'Same seed, same tasks and draws. Texts of a model may differ from run to run: batches change the last bits of its sums.',
});
const parallelField = z
  .int()
  .min(1)
  .max(256)
  .default(8)
  .meta({ title: 'Parallel episodes', help: 'Batched over the sequences of one context.' });
const nameField = z
  .string()
  .max(120)
  .default('')
  .meta({ title: 'Name', help: 'Shown in lists; empty takes the preset’s.' });

export const taskSelectionSchema = z.object({
  id: environmentIdSchema.meta({ title: 'Environment' }),
  split: splitSchema
    .default('train')
    .meta({ title: 'Split', help: 'Training data come from train only; development chooses settings.' }),
  tasks: z
    .int()
    .min(1)
    .max(100_000)
    .default(20)
    .meta({ title: 'Tasks', unit: 'tasks', paper: '3,553 (ALFWorld train)' }),
  taskTypes: z
    .array(z.string())
    .default([])
    .meta({ title: 'Task types', help: 'Empty takes all.', advanced: true }),
  shuffle: z.boolean().default(true).meta({
    title: 'Shuffle',
    help: 'A seeded sample of the split instead of its first tasks.',
    advanced: true,
  }),
});
export type TaskSelection = z.infer<typeof taskSelectionSchema>;

export const limitsSchema = z.object({
  maxSteps: z.int().min(1).max(1000).nullable().default(null).meta({
    title: 'Step limit',
    unit: 'steps',
    help: 'Empty takes the environment’s (household: 50).',
    paper: '50',
  }),
  maxPromptTokens: z
    .int()
    .min(64)
    .max(1_000_000)
    .default(4096)
    .meta({ title: 'Prompt limit', unit: 'tokens', paper: '4,096' }),
  maxInvalidInARow: z.int().min(1).max(1000).nullable().default(null).meta({
    title: 'Invalid actions in a row',
    help: 'Ends the episode early; empty never does.',
    advanced: true,
  }),
  episodeTimeoutMs: z.int().min(1000).default(600_000).meta({
    title: 'Time-out',
    unit: 'ms',
    help: 'Of one episode; of the proof of one demonstration; of the branching of one expert state; of one reflection.',
    advanced: true,
  }),
  retries: z
    .int()
    .min(0)
    .max(10)
    .default(2)
    .meta({ title: 'Retries', help: 'Of an episode after an infrastructure failure.', advanced: true }),
});
export type Limits = z.infer<typeof limitsSchema>;

export const rolloutRunSchema = z.object({
  kind: z.literal('rollout'),
  name: nameField,
  seed: seedField,
  environment: taskSelectionSchema,
  policy: policySchema,
  rolloutsPerTask: z.int().min(1).max(64).default(1).meta({ title: 'Rollouts per task' }),
  limits: limitsSchema.prefault({}),
  parallel: parallelField,
});
export type RolloutRun = z.infer<typeof rolloutRunSchema>;

export const demonstrationSourceSchema = z.discriminatedUnion('source', [
  z
    .object({ source: z.literal('solver') })
    .meta({ title: 'Solver', help: 'The environment’s own expert: 100 % success, short paths.' }),
  z.object({ source: z.literal('recorded') }).meta({
    title: 'Recorded by hand',
    help: 'Successful games of the train tasks of this environment that you recorded on the Play page.',
  }),
  z
    .object({
      source: z.literal('import'),
      file: z.string().min(1).meta({
        title: 'File',
        help: 'JSONL: {"task_id", "actions": [...]} per line; replayed and kept only where it succeeds.',
      }),
    })
    .meta({ title: 'Imported JSONL' }),
]);

const samplerField = z.enum(['uniform', 'policy']).meta({
  title: 'Sampler',
  help: '`uniform`: without replacement from the admissible actions minus the expert’s. `policy`: proposed by the policy.',
});

export const iwmBranchingSchema = z.object({
  enabled: z.boolean().default(true).meta({ title: 'Branch for implicit world modelling' }),
  sampler: samplerField.default('uniform').meta({
    title: 'Sampler',
    help: '`uniform`: without replacement from the admissible actions minus the expert’s. `policy`: proposed by the policy; what is not admissible is executed too, its answer is an outcome to predict.',
  }),
  k: z.int().min(1).max(64).default(8).meta({
    title: 'K',
    unit: 'alternatives a state',
    paper: '8',
    help: 'IWM gains from large K (Fig. 4b).',
  }),
  temperature: z.number().min(0).max(5).default(1).meta({ title: 'Proposal temperature', advanced: true }),
  excludeActions: z
    .array(
      z
        .string()
        .regex(/^\s*[^\s*][^*]*\*?\s*$/u, 'an action, or the beginning of actions with one * at its end'),
    )
    .default([])
    .meta({
      title: 'Leave out actions',
      paper: 'none',
      help: 'Never drawn as an alternative: `help`, or with a star all that begin so (`examine *`). Empty is the paper’s sampler. Commands with long answers that hardly vary can be most of what the loss is taken over.',
      advanced: true,
    }),
  expertTriple: z.boolean().default(true).meta({
    title: 'Expert triple',
    help: 'The set also holds (s, expert action, s′), as the paper’s appendix B does in ALFWorld.',
    advanced: true,
  }),
});

export const srBranchingSchema = z.object({
  enabled: z.boolean().default(true).meta({ title: 'Branch for self-reflection' }),
  sampler: samplerField.default('policy'),
  k: z
    .int()
    .min(1)
    .max(64)
    .default(3)
    .meta({ title: 'K', unit: 'alternatives a state', paper: '3', help: 'Best at 2–4 (Fig. 4b).' }),
  temperature: z.number().min(0).max(5).default(1).meta({ title: 'Proposal temperature', paper: '1.0' }),
  extra: z.int().min(0).max(16).default(2).meta({
    title: 'Extra proposals',
    unit: 'proposals a state',
    paper: '0',
    help: 'Drawn beyond K in the same request, in place of those that repeat or cannot be read.',
    advanced: true,
  }),
  unique: z.boolean().default(true).meta({ title: 'Canonicalise and de-duplicate', advanced: true }),
  inadmissible: z.enum(['replace', 'execute']).default('replace').meta({
    title: 'Inadmissible proposals',
    paper: 'replace (ALFWorld)',
    help: '`replace`: by an unused admissible action, as in ALFWorld, ScienceWorld and WebArena. `execute`: in the environment, whose answer (“Nothing happens.”) is then the outcome to compare with, as in WebShop.',
    advanced: true,
  }),
  refill: z.enum(['constant-k', 'inadmissible-only']).default('constant-k').meta({
    title: 'Refill',
    help: '`inadmissible-only` is the paper’s: up to K, only inadmissible proposals are replaced.',
    advanced: true,
  }),
});

export const reflectionFiltersSchema = z.object({
  contradiction: z.boolean().default(true).meta({
    title: 'Drop contradictions',
    help: 'The text concludes another action than the expert’s (paper: BFCL, WebArena).',
  }),
  labelLeak: z.boolean().default(true).meta({ title: 'Drop label leaks', help: '“the expert action is …”' }),
  numbering: z.boolean().default(true).meta({
    title: 'Drop numbered options',
    help: '“alternative 2 …”, or a numbered list of the alternatives; other numbered lists pass.',
  }),
  outcomeNarration: z
    .boolean()
    .default(true)
    .meta({ title: 'Drop narrated outcomes', help: 'An outcome told as already seen.' }),
  scaffold: z
    .boolean()
    .default(true)
    .meta({ title: 'Drop scaffold citations', help: 'Words of the generator’s prompt.' }),
  doubled: z.boolean().default(true).meta({ title: 'Drop doubled texts' }),
  garbled: z
    .boolean()
    .default(true)
    .meta({ title: 'Drop garbled texts', help: 'Broken characters, or no sentence of English.' }),
  unrelated: z.boolean().default(true).meta({
    title: 'Drop unrelated texts',
    help: 'Nothing that the expert’s action names is in the text.',
  }),
  length: z.boolean().default(true).meta({ title: 'Drop by length' }),
  minWords: z.int().min(0).default(5).meta({ title: 'Shortest', unit: 'words', advanced: true }),
  maxWords: z.int().min(1).default(200).meta({
    title: 'Longest',
    unit: 'words',
    advanced: true,
    help: 'Long reflections drown the action tokens.',
  }),
});
export type ReflectionFilters = z.infer<typeof reflectionFiltersSchema>;

export const reflectionRunSchema = z.object({
  enabled: z.boolean().default(true).meta({ title: 'Write reflections' }),
  generator: z
    .union([z.literal('self'), reflectorSchema])
    .default('self')
    .meta({ title: 'Generator', help: '`self` is the policy’s own model, as in the paper.' }),
  unit: z.enum(['state', 'alternative']).default('state').meta({
    title: 'One reflection per',
    help: 'Eq. 4 writes one per alternative; the paper’s counts are one per state.',
    advanced: true,
  }),
  template: z.enum(['paper', 'anticipatory']).default('anticipatory').meta({
    title: 'Template',
    help: '`paper` is section 4.3; `anticipatory` renames the slot and asks not to narrate outcomes.',
  }),
  temperature: z
    .number()
    .min(0)
    .max(5)
    .default(0.9)
    .meta({ title: 'Temperature', paper: '0.9 (TravelPlanner)' }),
  maxTokens: z.int().min(8).max(8192).default(256).meta({ title: 'Longest reflection', unit: 'tokens' }),
  attempts: z
    .int()
    .min(1)
    .max(10)
    .default(1)
    .meta({ title: 'Attempts', help: 'Sampled again while a filter drops it.', advanced: true }),
  filters: reflectionFiltersSchema.prefault({}),
});

export const earlyExperienceRunSchema = z.object({
  kind: z.literal('early-experience'),
  name: nameField,
  seed: seedField,
  profile: profileSchema.default('default').meta({
    title: 'Profile',
    help: '`paper` sets every switch as the paper has it; a deviation is recorded by its label.',
  }),
  environment: taskSelectionSchema,
  demonstrations: demonstrationSourceSchema.prefault({ source: 'solver' }),
  policy: policySchema,
  branching: z
    .object({
      execution: z.enum(['snapshot', 'replay']).default('snapshot').meta({
        title: 'Execution',
        help: '`snapshot` restores the state, `replay` re-executes the prefix; both are proved by the observation hash.',
      }),
      iwm: iwmBranchingSchema.prefault({}),
      sr: srBranchingSchema.prefault({}),
    })
    .prefault({}),
  reflection: reflectionRunSchema.prefault({}),
  export: z
    .object({
      folder: z
        .string()
        .nullable()
        .default(null)
        .meta({ title: 'Folder', help: 'Empty: inside the data folder.' }),
      stripRewardText: z
        .boolean()
        .default(true)
        .meta({ title: 'Strip reward text', help: 'The method is reward-free.', advanced: true }),
      expertThought: z
        .boolean()
        .default(false)
        .meta({ title: 'Placeholder thought in expert rows', advanced: true }),
    })
    .prefault({}),
  limits: limitsSchema.prefault({}),
  parallel: parallelField,
});
export type EarlyExperienceRun = z.infer<typeof earlyExperienceRunSchema>;

export const runSchema = z.discriminatedUnion('kind', [rolloutRunSchema, earlyExperienceRunSchema]);
export type Run = z.infer<typeof runSchema>;

export const runProblemSchema = z.object({
  /** JSON path, e.g. `branching.sr.k`. */
  path: z.string(),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
  /** 1-based position in the YAML text, where one was given. */
  line: z.int().nullable(),
  /** Where it is not the text of the run that is wrong: what the job would have failed with. */
  code: errorCodeSchema.optional(),
});
export type RunProblem = z.infer<typeof runProblemSchema>;

/** Before the start; upper bounds where the number depends on what the model does. */
export const runEstimateSchema = z.object({
  demonstrations: z.int(),
  environmentSteps: z.int(),
  modelCalls: z.int(),
  promptTokens: z.int(),
  completionTokens: z.int(),
  diskBytes: z.int(),
  memoryBytes: z.int().nullable(),
  /** null until the model has been measured on this machine. */
  durationMs: z.int().nullable(),
});
export type RunEstimate = z.infer<typeof runEstimateSchema>;

export const presetSchema = z.object({
  presetId: z.string(),
  title: z.string(),
  summary: z.string(),
  /** Paper table, figure or section. */
  reproduces: z.string(),
  yaml: z.string(),
  builtIn: z.boolean(),
});
export type Preset = z.infer<typeof presetSchema>;
