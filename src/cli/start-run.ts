/** From a run's text to a finished job: check, start, follow, say what came out. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { RunEstimate, RunProblem } from '#shared/schema/run.ts';
import type { Job } from '#shared/schema/job.ts';
import type { Work } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import type { FollowOptions } from './follow.ts';
import { followJob, reportEnd } from './follow.ts';
import { bytes, duration, number, printResult, say } from './output.ts';
import { resultText, whereToLook } from './result-text.ts';

/** A run's text and where each part of it came from, so that a problem is told in the place where it is corrected. */
export interface RunText {
  yaml: string;
  /** The file, or the preset by name. */
  origin: string;
  sets: readonly string[];
  /** Written by the command from its options: nobody can look at a line of it. */
  generated?: true;
}

/** `mine.yaml, line 4: policy.modle: …`, or the `--set` that it came with. */
export function problemLine(
  { severity, path, message, line }: RunProblem,
  { origin, sets, generated }: Omit<RunText, 'yaml'>,
): string {
  const set = sets.findLast((one) => {
    const key = one.slice(0, one.indexOf('=')).trim();
    return path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`);
  });
  const place =
    set === undefined
      ? `${origin}${line === null || generated === true ? '' : `, line ${String(line)}`}`
      : `--set ${set}`;
  return `${severity}: ${place}: ${path === '' ? '' : `${path}: `}${message}`;
}

export function estimateLine(estimate: RunEstimate): string {
  const parts = [
    `${number(estimate.environmentSteps)} environment steps`,
    `${number(estimate.modelCalls)} model calls`,
    `${number(estimate.completionTokens)} tokens written`,
    `${bytes(estimate.diskBytes)} on disk`,
  ];
  const time =
    estimate.durationMs === null
      ? 'time unknown until the model was tested here'
      : `${duration(estimate.durationMs)}`;
  return `At most: ${parts.join(', ')}; ${time}.`;
}

export function deviationLine({ label, reason }: { label: string; reason: string }): string {
  return `deviation from the paper: ${label}: ${reason}`;
}

const namesFile = /(^|\.)(model|file|folder|path)=/;

/** Of one `--set`: a relative path means the caller's folder, not the one that the host was started in. */
export function absolute(assignment: string): string {
  if (!namesFile.test(assignment)) return assignment;
  const equals = assignment.indexOf('=');
  const value = assignment.slice(equals + 1);
  return existsSync(value) ? `${assignment.slice(0, equals)}=${JSON.stringify(resolve(value))}` : assignment;
}

function stoppedBefore({ origin }: RunText): AppError {
  return new AppError({
    code: 'CANCELLED',
    message: `${origin}: stopped before the run was started; nothing was stored.`,
  });
}

/** Problems and estimate to stderr. @throws AppError CANCELLED at Ctrl-C, and AppError CONFIG_INVALID, or what the job would fail with, when it cannot start */
async function check({ client, signal }: Work, text: RunText): Promise<void> {
  const { problems, estimate, deviations } = await client.runs
    .check({ yaml: text.yaml }, { signal })
    .catch((thrown: unknown) => {
      if (!signal.aborted) throw thrown;
      throw stoppedBefore(text);
    });
  // A host that has nothing to wait for answers all the same.
  if (signal.aborted) throw stoppedBefore(text);
  for (const problem of problems) say(problemLine(problem, text));
  const wrong = problems.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) {
    throw new AppError({
      code: wrong.code ?? 'CONFIG_INVALID',
      message: `${text.origin}: the run is not valid; nothing was started.`,
    });
  }
  for (const deviation of deviations) say(deviationLine(deviation));
  if (estimate !== null) say(estimateLine(estimate));
}

/** Of `--detach`. */
export const detachHelp = 'when a host is running, leave the job to it';

/** Starts the run and stays with it, or leaves it to the host. @returns the exit code */
export async function startAndFollow(
  work: Work,
  text: RunText,
  options: { detach?: boolean; onUpdate?: FollowOptions['onUpdate'] } = {},
): Promise<number> {
  const { client, json, session } = work;
  await check(work, text);
  // Without the signal: a start that the host has carried out while we left would run with nobody there. It is paused when followed.
  const job = await client.runs.start({ yaml: text.yaml });
  if (options.detach === true && session.attached) {
    printResult(json, job, () => `${job.title}: ${job.state}. Follow it: daydream jobs watch ${job.jobId}`);
    return exitCodes.ok;
  }
  if (options.detach === true)
    say('No host runs on this data folder: this command runs the job itself, and stays with it.');
  say(`Job ${job.jobId} started. Ctrl-C stops it and keeps what is finished.`);
  if (session.url !== null) say(`Watch it in a browser: ${session.url}`);
  const { onUpdate } = options;
  const ended = await followJob(work, job.jobId, {
    onInterrupt: 'pause',
    quiet: json,
    ...(onUpdate === undefined ? {} : { onUpdate }),
  });
  return sayResult(work, ended);
}

/** The job as JSON, or its tables and where to look further. @returns the exit code */
export async function sayResult(work: Work, job: Job): Promise<number> {
  const text = work.json ? null : await resultText(work.client, job);
  if (work.json || text !== null) printResult(work.json, job, () => text ?? '');
  const code = reportEnd(job);
  if (!work.json && job.state === 'succeeded') {
    say(whereToLook(job, { link: await work.session.lastingLink(), dataDir: work.dataDir }));
  }
  return code;
}
