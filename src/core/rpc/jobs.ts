import { withEventMeta } from '@orpc/server';
import { AppError } from '#shared/errors.ts';
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { JobId } from '#shared/ids.ts';
import { isEnded } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { os } from '#core/rpc/base.ts';
import { changes, typedErrors } from '#core/rpc/stream.ts';

const eventsPerMessage = 500;

function known<Found>(found: Found | null, jobId: JobId): Found {
  if (found !== null) return found;
  throw new AppError({
    code: 'NOT_FOUND',
    message: `There is no job ${jobId}. List them with \`daydream jobs\`.`,
  });
}

function getJob(app: RpcServices, jobId: JobId): Job {
  return known(app.store.jobs.get(jobId), jobId);
}

/** Whole story of one job: state now and what happened after `afterSeq`; ends after the last event of a finished job. */
async function* watchJob(
  app: RpcServices,
  jobId: JobId,
  afterSeq: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobUpdate, void, void> {
  let seq = afterSeq;
  const subscribe = (onChange: () => void) =>
    app.jobs.subscribe(({ job }) => {
      if (job.jobId === jobId || job.parentId === jobId) onChange();
    });
  for await (const _ of changes({ subscribe, intervalMs: 100, signal })) {
    let more = true;
    while (more) {
      const { job, children } = known(app.store.jobs.status(jobId), jobId);
      const events = app.store.jobs.events(jobId, {
        afterSeq: seq,
        limit: eventsPerMessage,
        includeChildren: true,
      });
      seq = events.at(-1)?.seq ?? seq;
      more = events.length === eventsPerMessage;
      yield withEventMeta({ job, children, events }, { id: String(seq) });
      if (!more && isEnded(job.state)) return;
    }
  }
}

export function jobsHandlers(app: RpcServices) {
  const jobs = os.jobs;
  return {
    list: jobs.list.handler(({ input: { filter, ...page } }) => app.reader.jobs.list(filter, page)),
    get: jobs.get.handler(({ input }) => ({
      job: getJob(app, input.jobId),
      children: app.store.jobs.children(input.jobId),
    })),
    find: jobs.find.handler(({ input }) => app.store.jobs.idsStartingWith(input.prefix, input.limit)),
    pause: jobs.pause.handler(({ input }) => app.jobs.pause(getJob(app, input.jobId).jobId)),
    resume: jobs.resume.handler(({ input }) => app.jobs.resume(getJob(app, input.jobId).jobId)),
    cancel: jobs.cancel.handler(({ input }) => app.jobs.cancel(getJob(app, input.jobId).jobId)),
    remove: jobs.remove.handler(({ input }) => {
      const job = getJob(app, input.jobId);
      if (!isEnded(job.state)) {
        throw new AppError({
          code: 'CONFLICT',
          message: `Job ${job.jobId} is ${job.state}. Cancel it first; nothing was removed.`,
        });
      }
      return { removed: app.store.jobs.remove(job.jobId) };
    }),
    events: jobs.events.handler(({ input: { jobId, level, code, ...page } }) =>
      app.reader.jobs.eventsPage(getJob(app, jobId).jobId, { level, code }, page),
    ),
    watch: jobs.watch.handler(({ input, signal, lastEventId }) => {
      const resumed = Number(lastEventId);
      const afterSeq = Number.isSafeInteger(resumed) && resumed > input.afterSeq ? resumed : input.afterSeq;
      return typedErrors(watchJob(app, getJob(app, input.jobId).jobId, afterSeq, signal));
    }),
    metrics: jobs.metrics.handler(({ input: { jobId, ...options } }) =>
      app.reader.jobs.metrics(getJob(app, jobId).jobId, options),
    ),
  };
}
