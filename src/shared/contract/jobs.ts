import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { idPrefixInput, pageInput, pageOf, procedure } from '#shared/contract/base.ts';
import { jobIdSchema } from '#shared/ids.ts';
import {
  eventLevels,
  jobEventSchema,
  jobFilterSchema,
  jobSchema,
  jobStatusSchema,
  metricPointSchema,
} from '#shared/schema/job.ts';

const byId = z.object({ jobId: jobIdSchema });

/**
 * What the live page receives; merged to at most 10 messages a second, so without specs and results: `get` has them, and a result
 * comes with a change of state. `events` may be empty.
 */
export const jobUpdateSchema = z.object({
  job: jobStatusSchema,
  children: z.array(jobStatusSchema),
  events: z.array(jobEventSchema),
});
export type JobUpdate = z.infer<typeof jobUpdateSchema>;

export const jobsContract = {
  list: procedure.input(pageInput.extend({ filter: jobFilterSchema.default({}) })).output(pageOf(jobSchema)),
  get: procedure.input(byId).output(z.object({ job: jobSchema, children: z.array(jobSchema) })),
  find: procedure.input(idPrefixInput).output(z.array(jobIdSchema)),
  pause: procedure.input(byId).output(jobSchema),
  resume: procedure.input(byId).output(jobSchema),
  cancel: procedure.input(byId).output(jobSchema),
  remove: procedure.input(byId).output(z.object({ removed: z.boolean() })),
  /** Of the job and its children, newest first. `level`: at least this serious. `code`: in the event's data, or its type. */
  events: procedure
    .input(
      pageInput.extend({
        jobId: jobIdSchema,
        level: z.enum(eventLevels).optional(),
        code: z.string().max(200).optional(),
      }),
    )
    .output(pageOf(jobEventSchema)),
  /** Streams from `afterSeq` (or lastEventId); ends when the job is finished. */
  watch: procedure
    .input(byId.extend({ afterSeq: z.int().nonnegative().default(0) }))
    .output(eventIterator(jobUpdateSchema)),
  metrics: procedure
    .input(
      byId.extend({
        names: z.array(z.string()).optional(),
        maxPoints: z.int().min(2).max(100_000).default(2000),
      }),
    )
    .output(z.array(metricPointSchema)),
};
