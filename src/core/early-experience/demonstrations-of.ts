/** Reads back what the `demonstrations` job kept. */
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { episodeIdSchema } from '#shared/ids.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { Store } from '#core/store/port.ts';
import type { Demonstration } from '#core/early-experience/expert-states.ts';

/** One that became no demonstration: of an import by its line, else by its task alone. */
export const refusalSchema = z.object({
  line: z.int().nullable(),
  taskId: z.string().nullable(),
  reason: z.string(),
});
export type Refusal = z.infer<typeof refusalSchema>;

export const demonstrationsResultSchema = z.object({
  episodeIds: z.array(episodeIdSchema),
  demonstrations: z.int(),
  steps: z.int(),
  rejected: z.int(),
  /** Each of the rejected, up to a bound; null in results of older versions. */
  refusals: z.array(refusalSchema).nullable().default(null),
});
export type DemonstrationsResult = z.infer<typeof demonstrationsResultSchema>;

/** @throws AppError NOT_FOUND when the job is gone or has no result */
export function demonstrationsResult(store: Pick<Store, 'jobs'>, jobId: JobId): DemonstrationsResult {
  const result = demonstrationsResultSchema.safeParse(store.jobs.get(jobId)?.result);
  if (result.success) return result.data;
  throw new AppError({
    code: 'NOT_FOUND',
    message: `Job ${jobId} holds no demonstrations. Run the stage “demonstrations” again.`,
  });
}

/** One at a time: a whole split would fill the memory. */
export function readDemonstration(store: Pick<Store, 'episodes'>, episodeId: EpisodeId): Demonstration {
  const episode = store.episodes.get(episodeId);
  if (episode !== null) return { episode, steps: store.episodes.steps(episodeId) };
  throw new AppError({
    code: 'NOT_FOUND',
    message: `The demonstration ${episodeId} was removed from the store. Start the run again to collect it anew.`,
  });
}
