import { z } from 'zod';
import { modelIdSchema } from '#shared/ids.ts';

export const inferenceStatusSchema = z.object({
  state: z.enum(['stopped', 'starting', 'ready', 'restarting', 'failed']),
  device: z.string(),
  restarts: z.int(),
  loaded: z.array(
    z.object({
      modelId: modelIdSchema,
      name: z.string(),
      contextTokens: z.int(),
      sequences: z.int(),
      threads: z.int(),
      adapters: z.array(z.string()),
      busySequences: z.int(),
      /** Jobs and try-outs that hold it; only at 0 can it be unloaded. */
      users: z.int(),
      /** Over the last seconds of work; null before the first token. */
      tokensPerSecond: z.number().nullable(),
    }),
  ),
});
export type InferenceStatus = z.infer<typeof inferenceStatusSchema>;

export const systemStatusSchema = z.object({
  version: z.string(),
  node: z.string(),
  host: z.enum(['electron', 'serve', 'cli']),
  dataFolder: z.string(),
  startedAt: z.int(),
  storeBytes: z.int(),
  freeDiskBytes: z.int(),
  cores: z.int(),
  totalMemoryBytes: z.int(),
  freeMemoryBytes: z.int(),
  /** Steps executed in real environments since the store was created, all runs. */
  realEnvironmentSteps: z.int(),
  counts: z.object({
    jobs: z.int(),
    runningJobs: z.int(),
    episodes: z.int(),
    steps: z.int(),
    branches: z.int(),
    reflections: z.int(),
    /** Kept by the filters and not yet read by a person; what a filter dropped waits for nobody. */
    reflectionsToReview: z.int(),
    datasets: z.int(),
    models: z.int(),
  }),
  /** Connections that left this machine because the user asked for them (HTTP models); offline means 0. */
  outgoingConnections: z.int(),
  inference: inferenceStatusSchema,
});
export type SystemStatus = z.infer<typeof systemStatusSchema>;

export const doctorCheckSchema = z.object({
  check: z.string(),
  status: z.enum(['ok', 'warning', 'error']),
  detail: z.string(),
  /** What to do; empty when ok. */
  fix: z.string(),
});
export type DoctorCheck = z.infer<typeof doctorCheckSchema>;

export const settingsSchema = z.object({
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  modelFolders: z.array(z.string()).default([]),
  /** 0: physical cores − 1, calibrated. */
  threads: z.int().min(0).max(512).default(0),
  notifications: z.boolean().default(true),
});
export type Settings = z.infer<typeof settingsSchema>;

/** A change: fields that are left out stay. (`settingsSchema.partial()` would fill them with their defaults.) */
export const settingsPatchSchema = z
  .object({
    theme: settingsSchema.shape.theme.unwrap(),
    modelFolders: settingsSchema.shape.modelFolders.unwrap(),
    threads: settingsSchema.shape.threads.unwrap(),
    notifications: settingsSchema.shape.notifications.unwrap(),
  } satisfies Record<keyof Settings, z.ZodType>)
  .partial();
