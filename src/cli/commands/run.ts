import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import type { RunEstimate } from '#shared/schema/run.ts';
import { assign } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { followJob, reportEnd } from '../follow.ts';
import { bytes, duration, number, printResult, say } from '../output.ts';
import { collect } from '../parse.ts';
import { findPreset } from './presets.ts';

/** A name with a dot or a slash is a file. */
async function readRun(client: Client, source: string): Promise<string> {
  const size = await stat(source).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
  if (size === null && !/[./\\]/.test(source)) return (await findPreset(client, source)).yaml;
  if (size === null) throw new AppError({ code: 'FILE_NOT_FOUND', message: `There is no file ${source}.` });
  if (size > 1_000_000)
    throw new AppError({
      code: 'FILE_INVALID',
      message: `${source} has ${bytes(size)}; a run file is small.`,
    });
  return readFile(source, 'utf8');
}

const namesFile = /(^|\.)(model|file|folder|path)=/;

/** A relative path means the caller's folder, not the one that the host was started in. */
function absolute(assignment: string): string {
  if (!namesFile.test(assignment)) return assignment;
  const equals = assignment.indexOf('=');
  const value = assignment.slice(equals + 1);
  return existsSync(value) ? `${assignment.slice(0, equals)}=${JSON.stringify(resolve(value))}` : assignment;
}

function assignments(work: Work, sets: readonly string[]): string[] {
  const seed = work.seed === undefined ? [] : [`seed=${String(work.seed)}`];
  return [...sets.map(absolute), ...seed];
}

function estimateLine(estimate: RunEstimate): string {
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

/** Problems and estimate to stderr. @throws AppError CONFIG_INVALID when it cannot start */
async function check({ client }: Work, yaml: string): Promise<void> {
  const { problems, estimate, deviations } = await client.runs.check({ yaml });
  for (const { severity, path, message, line } of problems) {
    say(
      `${severity}: ${line === null ? '' : `line ${String(line)}: `}${path === '' ? '' : `${path}: `}${message}`,
    );
  }
  if (problems.some(({ severity }) => severity === 'error')) {
    throw new AppError({ code: 'CONFIG_INVALID', message: 'The run is not valid; nothing was started.' });
  }
  for (const { label, reason } of deviations) say(`deviation from the paper: ${label}: ${reason}`);
  if (estimate !== null) say(estimateLine(estimate));
}

/** Starts the run and stays with it, or leaves it to the host. @returns the exit code */
export async function startAndFollow(
  work: Work,
  yaml: string,
  options: { detach?: boolean } = {},
): Promise<number> {
  const { client, json, session } = work;
  await check(work, yaml);
  const job = await client.runs.start({ yaml });
  if (options.detach === true && session.attached) {
    printResult(json, job, () => `${job.title}: ${job.state}. Follow it: daydream jobs watch ${job.jobId}`);
    return exitCodes.ok;
  }
  say(`Job ${job.jobId} started. Ctrl-C stops it and keeps what is finished.`);
  if (session.url !== null) say(`Watch it in a browser: ${session.url}`);
  const ended = await followJob(work, job.jobId, { onInterrupt: 'pause', quiet: json });
  if (json) printResult(true, ended, () => '');
  else if (ended.result !== null) printResult(false, null, () => JSON.stringify(ended.result, null, 2));
  return reportEnd(ended);
}

export function addRun(program: Command): void {
  program
    .command('run')
    .description('start a preset or a YAML file, and stay with it')
    .argument('<preset-or-file>', 'name of a preset, or a YAML file')
    .option('--set <key=value>', 'change one field (dotted path); may be repeated', collect, [])
    .option('--check', 'only check and estimate; start nothing', false)
    .option('--detach', 'when a host is running, leave the job to it', false)
    .addHelpText(
      'after',
      `
Examples:
  daydream run quickstart --set policy.model=model.gguf
  daydream run early-experience-household --set policy.model=model.gguf --set environment.tasks=100 --seed 2
  daydream presets show early-experience-small > mine.yaml && daydream run mine.yaml
  daydream run mine.yaml --check
`,
    )
    .action(
      (
        source: string,
        { set, check: onlyCheck, detach }: { set: string[]; check: boolean; detach: boolean },
        command: Command,
      ) =>
        withSession(
          command,
          async (work) => {
            const yaml = assign(await readRun(work.client, source), assignments(work, set));
            if (!onlyCheck) return startAndFollow(work, yaml, { detach });
            const result = await work.client.runs.check({ yaml });
            printResult(work.json, result, () =>
              [
                ...result.problems.map(
                  ({ severity, line, path, message }) =>
                    `${severity}: ${line === null ? '' : `line ${String(line)}: `}${path === '' ? '' : `${path}: `}${message}`,
                ),
                ...(result.estimate === null ? [] : [estimateLine(result.estimate)]),
                ...(result.command === '' ? [] : [`The same: ${result.command}`]),
              ].join('\n'),
            );
            return result.problems.some(({ severity }) => severity === 'error')
              ? exitCodes.usage
              : exitCodes.ok;
          },
          { runsJobs: !onlyCheck },
        ),
    );
}
