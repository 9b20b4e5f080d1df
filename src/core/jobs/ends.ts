/** What the end of a run means for its job: the next state and the event that tells it. Pure; the engine writes it. */
import { PauseSignal } from '#core/jobs/run.ts';
import type { NewEvent, Run } from '#core/jobs/run.ts';
import type { JobChange } from '#core/store/port.ts';
import { toAppError } from '#shared/errors.ts';
import type { Job, JobState } from '#shared/schema/job.ts';

export type Outcome = { ok: true; result: Job['result'] } | { ok: false; error: unknown };

export function note(
  type: string,
  message: string,
  data: NewEvent['data'] = {},
  level: NewEvent['level'] = 'info',
): Omit<NewEvent, 'at'> {
  return { type, message, data, level };
}

/** For the log, where a fault of ours needs its place. */
export function stackOf(thrown: unknown): string {
  const error = toAppError(thrown);
  return error.stack ?? error.message;
}

export interface End {
  change: JobChange & { state: JobState };
  /** null: told already. */
  event: Omit<NewEvent, 'at'> | null;
}

/** @param before the job as the database has it at the end of the run: a request may have come meanwhile */
export function endOf(
  before: Job,
  outcome: Outcome,
  { at, stopping, resumeWanted }: { at: number; stopping: Run['stopping']; resumeWanted: boolean },
): End {
  const { title } = before;
  if (before.state === 'cancelling') {
    return {
      change: { state: 'cancelled', finishedAt: at },
      event: note('job-cancelled', `${title} was cancelled. What was committed is kept.`),
    };
  }
  if (outcome.ok) {
    return {
      change: {
        state: 'succeeded',
        finishedAt: at,
        result: outcome.result,
        error: null,
        crashes: 0,
        idleCrashes: 0,
      },
      event: note('job-succeeded', `${title}: done.`),
    };
  }
  if (stopping === 'shutdown') {
    const paused = before.state === 'pausing';
    return {
      change: { state: paused ? 'paused' : 'queued', resumeWanted: false },
      event: note('job-requeued', `The host closed. ${title} goes on from its last checkpoint.`),
    };
  }
  if (outcome.error instanceof PauseSignal && before.state === 'pausing')
    return { change: { state: 'paused' }, event: note('job-paused', `${title} is paused.`) };
  if (outcome.error instanceof PauseSignal && resumeWanted)
    return { change: { state: 'queued', resumeWanted: false }, event: null };
  const error = toAppError(outcome.error);
  return {
    change: { state: 'failed', finishedAt: at, error: error.toRecord() },
    event: note('job-failed', error.message, { code: error.code }, 'error'),
  };
}
