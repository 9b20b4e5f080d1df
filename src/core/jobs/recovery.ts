/**
 * What happens to jobs whose host died. A job that waits for a child is not blamed for the crash: the child is. Three crashes in a
 * row between which the job stored nothing at all (no commit, no step of an episode) end it as CRASH_LOOP instead of killing the
 * host for ever. So do ten between which it stored steps but finished nothing: an episode is begun again from its start, so one that
 * kills the host at its twentieth step stores nineteen each time.
 */
import type { DeadLease, JobChange, Store } from '#core/store/port.ts';
import type { Changes } from '#core/jobs/changes.ts';
import type { NewEvent } from '#core/jobs/run.ts';

const idleCrashesAllowed = 3;
const unfinishedCrashesAllowed = 10;

/** Returns how many jobs were recovered. */
export function recoverDeadLeases(
  { store, changes }: { store: Store; changes: Changes },
  lease: { owner: string; at: number; soleHost: boolean },
): number {
  return changes.transaction(() => {
    const dead = store.queue.deadLeases(lease);
    for (const entry of dead) {
      const { jobId } = entry.job;
      const abandoned = store.episodes.abandonRunning({ jobId, at: lease.at });
      const { change, event } = verdict(entry, abandoned, lease.at);
      const events = store.queue.addEvents(jobId, [event]);
      changes.add(store.queue.change(jobId, change), events);
    }
    return dead.length;
  });
}

/** @param abandoned episodes that were in flight */
function verdict(entry: DeadLease, abandoned: number, at: number): { change: JobChange; event: NewEvent } {
  const { job } = entry;
  // The time since the last renewal is unknown, so it is not counted: `releaseAt` is the time the lease was last seen alive.
  const attempt = job.attempt + 1;
  if (job.state === 'cancelling') {
    return {
      change: { state: 'cancelled', finishedAt: at, releaseAt: 0 },
      event: info(
        at,
        'job-cancelled',
        'The host died while this job was being cancelled; it is cancelled now.',
      ),
    };
  }
  const counted = entry.waitsForChild ? countsOf(entry) : countCrash(entry);
  const { crashes, idleCrashes } = counted;
  if (idleCrashes >= idleCrashesAllowed || crashes >= unfinishedCrashesAllowed) {
    const times =
      idleCrashes >= idleCrashesAllowed
        ? `The host died ${String(idleCrashes)} times before this job stored anything more`
        : `The host died ${String(crashes)} times before this job finished anything more, although it stored steps each time`;
    const message =
      `${times}, so it is not started again. Everything that it stored is kept. ` +
      'Look at the log for what kills the host (often memory); resume the job when that is solved.';
    return {
      change: {
        state: 'failed',
        finishedAt: at,
        releaseAt: 0,
        attempt,
        ...counted,
        error: {
          code: 'CRASH_LOOP',
          message,
          data: { crashes, idleCrashes, commits: entry.commits, steps: entry.steps },
        },
      },
      event: {
        at,
        type: 'job-failed',
        level: 'error',
        message,
        data: { code: 'CRASH_LOOP', crashes, idleCrashes },
      },
    };
  }
  const paused = job.state === 'pausing';
  return {
    change: {
      state: paused ? 'paused' : 'queued',
      resumeWanted: false,
      releaseAt: 0,
      attempt,
      ...counted,
    },
    event: {
      at,
      // One death is one crash in a run's log: that of the stage that was running.
      ...(entry.waitsForChild
        ? { type: 'job-requeued', level: 'info' }
        : { type: 'job-crashed', level: 'warn' }),
      message:
        `The host died while this job was ${paused ? 'pausing' : entry.waitsForChild ? 'waiting for a stage' : 'running'}. ` +
        `It ${paused ? 'is paused at' : 'goes on from'} its last checkpoint.` +
        inFlight(abandoned),
      data: { attempt, abandoned },
    },
  };
}

type CrashCounts = Pick<DeadLease, 'crashes' | 'crashCommits' | 'idleCrashes' | 'crashSteps'>;

function countsOf({ crashes, crashCommits, idleCrashes, crashSteps }: DeadLease): CrashCounts {
  return { crashes, crashCommits, idleCrashes, crashSteps };
}

function countCrash({
  commits,
  steps,
  crashes,
  crashCommits,
  idleCrashes,
  crashSteps,
}: DeadLease): CrashCounts {
  const finishedNothing = crashCommits === commits;
  const storedNothing = finishedNothing && crashSteps === steps;
  return {
    crashes: finishedNothing ? crashes + 1 : 1,
    crashCommits: commits,
    idleCrashes: storedNothing ? idleCrashes + 1 : 1,
    crashSteps: steps,
  };
}

function inFlight(abandoned: number): string {
  if (abandoned === 0) return '';
  return abandoned === 1
    ? ' The episode in flight is kept as abandoned and begun again.'
    : ` The ${String(abandoned)} episodes in flight are kept as abandoned and begun again.`;
}

function info(at: number, type: string, message: string): NewEvent {
  return { at, type, level: 'info', message, data: {} };
}
