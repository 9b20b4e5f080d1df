import { z } from 'zod';
import { jobIdSchema } from '#shared/ids.ts';
import { errorRecordSchema } from '#shared/errors.ts';

export const jobStateSchema = z.enum([
  'queued',
  'running',
  'pausing',
  'paused',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
]);
export type JobState = z.infer<typeof jobStateSchema>;

/** What a job does not leave by itself. */
export const endedStates = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly JobState[];

export function isEnded(state: JobState): boolean {
  return (endedStates as readonly JobState[]).includes(state);
}

/** Whether `resume` brings it back from where it stopped, or takes a pause back. A cancelled job stays cancelled. */
export function canResume(state: JobState): boolean {
  return state === 'pausing' || state === 'paused' || state === 'failed';
}

export const progressSchema = z.object({
  done: z.number().nonnegative(),
  /** null: unknown yet. */
  total: z.number().nonnegative().nullable(),
  unit: z.string(),
  /** Units that are begun and not done: what a pause waits for. */
  inFlight: z.int().nonnegative().optional(),
  /** What happens now, in words. */
  phase: z.string(),
});
export type Progress = z.infer<typeof progressSchema>;

/** What a pausing job waits for, in the words of window, terminal and log: `waits for the 4 episodes in flight`. */
export function pausingWords(progress: Progress | null): string {
  const inFlight = progress?.inFlight ?? 0;
  if (progress === null || inFlight === 0) return 'waits for what is in flight';
  const { unit } = progress;
  return `waits for the ${inFlight === 1 ? unit.replace(/s$/u, '') : `${String(inFlight)} ${unit}`} in flight`;
}

export const jobSchema = z.object({
  jobId: jobIdSchema,
  parentId: jobIdSchema.nullable(),
  /** Which stage of the parent this is; null for a root job. */
  stage: z.string().nullable(),
  kind: z.string(),
  title: z.string(),
  spec: z.json(),
  seed: z.int(),
  state: jobStateSchema,
  /** 1 on the first run; +1 after each crash. */
  attempt: z.int().positive(),
  progress: progressSchema.nullable(),
  result: z.json().nullable(),
  error: errorRecordSchema.nullable(),
  createdAt: z.int(),
  startedAt: z.int().nullable(),
  finishedAt: z.int().nullable(),
  /** Time spent running, over all attempts, without pauses; brought up to date every few seconds, lastly at `activeAt`. */
  activeMs: z.int().nonnegative(),
  /** It has been running since this time, not yet in `activeMs`; null: it does not run now. */
  activeAt: z.int().nullable(),
  /** The last sign of life: an event, or a measured point. */
  lastEventAt: z.int().nullable(),
});
export type Job = z.infer<typeof jobSchema>;

/** How a job stands, without what may weigh 100 kB: a few hundred bytes. */
export const jobStatusSchema = jobSchema.omit({ spec: true, result: true });
export type JobStatus = z.infer<typeof jobStatusSchema>;

/** From the least to the most serious. */
export const eventLevels = ['info', 'warn', 'error'] as const;

/** One durable line of a job's story; `seq` grows over the whole store, so a stream can resume after any of them. */
export const jobEventSchema = z.object({
  seq: z.int().positive(),
  jobId: jobIdSchema,
  at: z.int(),
  /** noun-verb: `job-started`, `episode-finished`, `branch-rejected`, … */
  type: z.string(),
  level: z.enum(eventLevels),
  message: z.string(),
  data: z.record(z.string(), z.json()),
});
export type JobEvent = z.infer<typeof jobEventSchema>;

export const metricPointSchema = z.object({
  jobId: jobIdSchema,
  name: z.string(),
  step: z.int().nonnegative(),
  value: z.number(),
  at: z.int(),
});
export type MetricPoint = z.infer<typeof metricPointSchema>;

export const jobFilterSchema = z.object({
  state: jobStateSchema.optional(),
  kind: z.string().optional(),
  parentId: jobIdSchema.nullable().optional(),
});
export type JobFilter = z.infer<typeof jobFilterSchema>;
