import { z } from 'zod';
import { datasetIdSchema, jobIdSchema, sha256Schema } from '#shared/ids.ts';
import { profileSchema } from '#shared/schema/branch.ts';
import { splitSchema } from '#shared/schema/environment.ts';

/** The Early Experience triple. One file each: `expert_sft.jsonl`, `iwm_sft.jsonl`, `reflection_sft.jsonl`. */
export const datasetPartSchema = z.enum(['expert_sft', 'iwm_sft', 'reflection_sft']);
export type DatasetPart = z.infer<typeof datasetPartSchema>;

export const chatMessageSchema = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
});
export type PlainMessage = z.infer<typeof chatMessageSchema>;

/** One line of an exported file: OpenAI messages; the loss is on the last (assistant) message only. */
export const sftRowSchema = z.object({
  id: z.string(),
  messages: z.array(chatMessageSchema).min(2),
  meta: z.object({
    kind: z.enum(['il', 'iwm', 'sr']),
    environment: z.string(),
    task_id: z.string(),
    task_type: z.string(),
    split: splitSchema,
    episode_id: z.string(),
    step: z.int().nonnegative(),
    /** What was done in the state: for iwm the branched action, else the expert's. */
    action: z.string(),
    source: z.string(),
    valid: z.boolean(),
    branch_ids: z.array(z.string()),
    reflection_id: z.string().nullable(),
    /** Sampled ids of the target where a model wrote it, for training on the very tokens; else null. */
    completion_tokens: z.array(z.int()).nullable(),
  }),
});
export type SftRow = z.infer<typeof sftRowSchema>;

/** Why candidates of a file are no rows in it. What is null was not counted when an older version wrote the manifest. */
export const filterCountSchema = z.object({
  part: datasetPartSchema.nullable().default(null),
  filter: z.string(),
  /** Each missing candidate once, under its first reason: over a file, `candidates` = `rows` + all of these. */
  dropped: z.int().nonnegative(),
  /** Texts that carry this flag, dropped or not; one may carry several. null for what flags nothing. */
  flagged: z.int().nonnegative().nullable().default(null),
  help: z.string(),
});
export type FilterCount = z.infer<typeof filterCountSchema>;

export const manifestSchema = z.object({
  format: z.literal('daydream-early-experience/1'),
  createdAt: z.string(),
  application: z.object({ name: z.literal('daydream'), version: z.string() }),
  jobId: jobIdSchema.nullable(),
  configSha256: sha256Schema,
  config: z.json(),
  seed: z.int(),
  profile: profileSchema,
  /** Labels of the deviations from the paper in force, with their reason. */
  deviations: z.array(z.object({ label: z.string(), reason: z.string() })),
  environments: z.array(
    z.object({ id: z.string(), version: z.string(), dataChecksum: sha256Schema, licence: z.string() }),
  ),
  models: z.array(z.object({ role: z.string(), label: z.string(), sha256: sha256Schema.nullable() })),
  splits: z.array(splitSchema),
  tasks: z.int(),
  demonstrations: z.int(),
  /** What was given as a demonstration and is none; `listed` holds each with its line in an import, up to a bound. */
  refusedDemonstrations: z
    .object({
      total: z.int(),
      file: z.string().nullable(),
      listed: z.array(
        z.object({ line: z.int().nullable(), taskId: z.string().nullable(), reason: z.string() }),
      ),
    })
    .nullable()
    .default(null),
  states: z.int(),
  /** `executed` = `expert` + `iwm` + `sr` = `accepted` + `rejected`; the counts below are of the accepted ones. */
  branches: z.object({
    executed: z.int(),
    /** The expert's own action, executed again in its state. */
    expert: z.int().nullable().default(null),
    /** Alternatives, for each method. */
    iwm: z.int().nullable().default(null),
    sr: z.int().nullable().default(null),
    accepted: z.int(),
    rejected: z.int(),
    invalid: z.int(),
    inadmissible: z.int(),
    sameAsExpert: z.int(),
    refilled: z.int(),
    /** Drawn without asking the policy, whose prompt did not fit. */
    unasked: z.int().nullable().default(null),
    /** States whose prompt did not fit the policy's context. */
    promptTooLong: z.int().nullable().default(null),
  }),
  /**
   * Texts that the policy drew as alternatives: `drawn` = `used` + the reasons below. null where none was asked, and in manifests of older
   * versions.
   */
  proposals: z
    .object({
      drawn: z.int(),
      /** Became an alternative that was executed. */
      used: z.int(),
      /** The expert's own action. */
      expert: z.int(),
      duplicate: z.int(),
      unreadable: z.int(),
      /** Replaced, where the run does not execute them. */
      inadmissible: z.int(),
      excluded: z.int(),
      /** Drawn beyond K and not looked at. */
      surplus: z.int(),
    })
    .nullable()
    .default(null),
  /** What the rows of `iwm_sft` predict, by the command before its arguments, most characters first; the smallest kinds may be left out. */
  iwmTargets: z
    .object({
      rows: z.int(),
      distinct: z.int(),
      characters: z.int(),
      kinds: z.array(z.object({ kind: z.string(), rows: z.int(), distinct: z.int(), characters: z.int() })),
    })
    .nullable()
    .default(null),
  filters: z.array(filterCountSchema),
  files: z.array(
    z.object({
      part: datasetPartSchema,
      file: z.string(),
      /** What could have become a row: expert states, accepted branches, texts that were wanted. */
      candidates: z.int().nullable().default(null),
      rows: z.int(),
      /** Of these, rows whose messages an earlier row of the file has word for word; null in manifests of older versions. */
      repeated: z.int().nullable().default(null),
      bytes: z.int(),
      sha256: sha256Schema,
    }),
  ),
});
export type Manifest = z.infer<typeof manifestSchema>;

export const datasetSchema = z.object({
  datasetId: datasetIdSchema,
  name: z.string(),
  jobId: jobIdSchema.nullable(),
  folder: z.string(),
  manifest: manifestSchema,
  createdAt: z.int(),
});
export type Dataset = z.infer<typeof datasetSchema>;
