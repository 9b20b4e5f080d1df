/** Follows one job to its end on the terminal; Ctrl-C stops it and keeps what is finished. */
import type { JobUpdate } from '#shared/contract/jobs.ts';
import type { JobId } from '#shared/ids.ts';
import { endedStates, isEnded } from '#shared/schema/job.ts';
import type { Job, JobStatus } from '#shared/schema/job.ts';
import { AppError } from '#shared/errors.ts';
import { clientError } from './client.ts';
import { oneKeyPressMs } from './command.ts';
import type { Work } from './command.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { duration, say } from './output.ts';
import { ProgressView } from './progress.ts';

export interface FollowOptions {
  /** What Ctrl-C does: `pause` the job that this command started, or only stop `watching`. */
  onInterrupt: 'pause' | 'detach';
  onUpdate?: (update: JobUpdate, view: ProgressView) => void | Promise<void>;
  quiet?: boolean;
}

/** Events that change how the result is read, or say why nothing moves. */
const told = new Set(['episodes-reused', 'inference-died', 'inference-restarted', 'demonstration-rejected']);
/** Refusals come by the thousand in a wrong file: the rest is in the job's events, and counted in its tables. */
const mostRefusals = 20;

const restStates: ReadonlySet<string> = new Set([...endedStates, 'paused']);

const worksNow: ReadonlySet<string> = new Set(['running', 'pausing']);

/** The running stage of a pipeline says more than its parent. */
function shownJob({ job, children }: JobUpdate): JobStatus {
  const active = children.find(({ state, progress }) => worksNow.has(state) && progress !== null);
  return active ?? job;
}

/** @returns the job at rest: ended, with its result, or paused by Ctrl-C */
export async function followJob(
  { client, session, signal }: Work,
  jobId: JobId,
  options: FollowOptions,
): Promise<Job> {
  const view = new ProgressView(options.quiet === undefined ? {} : { quiet: options.quiet });
  const end = new AbortController();
  const onInterrupt = () => {
    if (options.onInterrupt === 'detach') {
      end.abort();
      return;
    }
    view.say(
      'Stopping: what is in flight is finished and kept. Ctrl-C again ends at once (finished work is kept too).',
    );
    client.jobs.pause({ jobId }).catch((thrown: unknown) => {
      // What cannot even be asked to pause, as on a full disk, will not come to rest either.
      view.say(clientError(thrown).message);
      end.abort();
    });
    const stoppingSince = performance.now();
    const onAgain = () => {
      if (performance.now() - stoppingSince >= oneKeyPressMs) end.abort();
    };
    process.on('SIGINT', onAgain);
    end.signal.addEventListener('abort', () => process.off('SIGINT', onAgain));
  };
  if (signal.aborted) onInterrupt();
  else signal.addEventListener('abort', onInterrupt, { once: true });
  session.lost.addEventListener('abort', () => end.abort(), { once: true });
  let last = (await client.jobs.get({ jobId })).job;
  let refusals = 0;
  try {
    for await (const update of await client.jobs.watch({ jobId }, { signal: end.signal })) {
      last = { ...last, ...update.job };
      if (options.quiet !== true) {
        for (const { type, message } of update.events) {
          if (!told.has(type)) continue;
          if (type === 'demonstration-rejected') refusals += 1;
          if (type !== 'demonstration-rejected' || refusals <= mostRefusals) view.say(message);
          else if (refusals === mostRefusals + 1) view.say(`… more of them: daydream jobs show ${jobId}`);
        }
      }
      await options.onUpdate?.(update, view);
      view.update(shownJob(update));
      if (last.state === 'paused' && signal.aborted) break;
    }
    // The stream says how it stands; what came of it is read once.
    if (isEnded(last.state)) last = (await client.jobs.get({ jobId })).job;
  } catch (thrown) {
    if (!end.signal.aborted) throw clientError(thrown);
  } finally {
    end.abort();
    view.stop();
    signal.removeEventListener('abort', onInterrupt);
  }
  if (session.lost.aborted && !restStates.has(last.state)) {
    throw new AppError({
      code: 'HOST_UNREACHABLE',
      message: `The host went away while job ${jobId} ran. Start it again with \`daydream serve\` and look at the job there.`,
    });
  }
  return last;
}

/** Says how a job ended. @returns the exit code */
export function reportEnd(job: Job): number {
  const took = duration(job.activeMs);
  switch (job.state) {
    case 'succeeded':
      say(`${job.title}: done in ${took}.`);
      return exitCodes.ok;
    case 'failed':
      say(`${job.title}: failed after ${took}. ${job.error?.message ?? ''}`);
      say(`What happened: daydream jobs show ${job.jobId}`);
      return job.error === null ? exitCodes.failed : exitCodeOf(job.error.code) || exitCodes.failed;
    case 'cancelled':
      say(`${job.title}: cancelled after ${took}; what was finished is kept.`);
      return exitCodes.cancelled;
    default:
      say(`${job.title}: ${job.state} after ${took}; what was finished is kept.`);
      say(`Go on: daydream jobs resume ${job.jobId}`);
      return exitCodes.cancelled;
  }
}
