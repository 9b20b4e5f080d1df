/**
 * What happens to jobs whose host died. A job that waits for a child is not blamed for the crash: the child is. Three crashes in a
 * row without a new checkpoint in between end the job as CRASH_LOOP instead of killing the host for ever.
 */
import type { DeadLease, JobChange, Store } from '#core/store/port.ts';
import type { Changes } from '#core/jobs/changes.ts';
import type { NewEvent } from '#core/jobs/run.ts';

const crashesAllowed = 3;

/** Returns how many jobs were recovered. */
export function recoverDeadLeases(
  { store, changes }: { store: Store; changes: Changes },
  lease: { owner: string; at: number; soleHost: boolean },
): number {
  return changes.transaction(() => {
    const dead = store.queue.deadLeases(lease);
    for (const entry of dead) {
      const { change, event } = verdict(entry, lease.at);
      const { jobId } = entry.job;
      store.episodes.abandonRunning({ jobId, at: lease.at });
      const events = store.queue.addEvents(jobId, [event]);
      changes.add(store.queue.change(jobId, change), events);
    }
    return dead.length;
  });
}

function verdict(entry: DeadLease, at: number): { change: JobChange; event: NewEvent } {
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
  const sameStep = entry.crashCommits === entry.commits;
  const crashes = entry.waitsForChild ? entry.crashes : sameStep ? entry.crashes + 1 : 1;
  const crashCommits = entry.waitsForChild ? entry.crashCommits : entry.commits;
  if (crashes >= crashesAllowed) {
    const message =
      `The host died ${crashes} times before this job finished anything more, so it is not started again. Everything up to its last ` +
      'checkpoint is kept. Look at the log for what kills the host (often memory); resume the job when that is solved.';
    return {
      change: {
        state: 'failed',
        finishedAt: at,
        releaseAt: 0,
        attempt,
        crashes,
        crashCommits,
        error: { code: 'CRASH_LOOP', message, data: { crashes, commits: entry.commits } },
      },
      event: { at, type: 'job-failed', level: 'error', message, data: { code: 'CRASH_LOOP', crashes } },
    };
  }
  const paused = job.state === 'pausing' && !entry.resumeWanted;
  return {
    change: {
      state: paused ? 'paused' : 'queued',
      resumeWanted: false,
      releaseAt: 0,
      attempt,
      crashes,
      crashCommits,
    },
    event: {
      at,
      type: 'job-crashed',
      level: 'warn',
      message: paused
        ? 'The host died while this job was pausing. It is paused at its last checkpoint.'
        : 'The host died while this job was running. It goes on from its last checkpoint.',
      data: { attempt },
    },
  };
}

function info(at: number, type: string, message: string): NewEvent {
  return { at, type, level: 'info', message, data: {} };
}
