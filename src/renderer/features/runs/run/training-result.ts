/** What a training has used and left behind, from its job, its events and its curves. Pure. */
import { z } from 'zod';
import type { Job, JobEvent, MetricPoint } from '#shared/schema/job.ts';

const resultSchema = z.object({
  file: z.string(),
  kind: z.enum(['adapter', 'model']),
  modelId: z.string().nullable(),
  baseModelId: z.string(),
  baseSha256: z.string().nullable(),
  recipe: z.string(),
  /** As trained; absent in results of earlier versions, null for all weights. */
  lora: z.object({ rank: z.int(), alpha: z.number() }).nullish(),
  updates: z.int(),
  trainedTokens: z.int(),
  stages: z.array(z.object({ name: z.string(), rows: z.int(), updates: z.int() })),
});
export type TrainingResult = z.infer<typeof resultSchema>;

export function trainingResult(job: Job): TrainingResult | null {
  return resultSchema.safeParse(job.result).data ?? null;
}

/** The new run with this policy, on tasks that nobody trains on: an adapter acts on its base, a whole model by itself. */
export function policyHref({ kind, file, modelId, baseModelId }: TrainingResult): string {
  const policy = kind === 'adapter' ? { model: baseModelId, adapter: file } : { model: modelId ?? file };
  return `/runs/new?${new URLSearchParams({ preset: 'rollout-quick', ...policy, split: 'development' }).toString()}`;
}

/** A new training that goes on from the adapter. */
export function continueHref({ file, baseModelId }: TrainingResult): string {
  return `/training/new?${new URLSearchParams({ base: baseModelId, adapter: file }).toString()}`;
}

/** The page of the base, with the adapter filled in where it is merged. */
export function mergeHref({ file, baseModelId }: TrainingResult): string {
  return `/models/${encodeURIComponent(baseModelId)}?${new URLSearchParams({ adapter: file }).toString()}`;
}

/** The newest value of a metric; null where nothing was measured. */
export function lastOf(points: readonly MetricPoint[], name: string): number | null {
  let last: MetricPoint | null = null;
  for (const point of points) {
    if (point.name === name && (last === null || point.step >= last.step)) last = point;
  }
  return last?.value ?? null;
}

/** The update of the newest checkpoint; events come newest first. */
export function lastCheckpoint(events: readonly JobEvent[]): { update: number; at: number } | null {
  const event = events.find(({ type }) => type === 'checkpoint-saved');
  const update = event?.data['update'];
  return event === undefined || typeof update !== 'number' ? null : { update, at: event.at };
}
