import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';
import { assign, shellWord } from '#core/app.ts';
import type { Work } from '../command.ts';
import { withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bytes, printResult } from '../output.ts';
import { collect } from '../parse.ts';
import type { RunText } from '../start-run.ts';
import {
  absolute,
  detachHelp,
  deviationLine,
  estimateLine,
  problemLine,
  startAndFollow,
} from '../start-run.ts';
import { findPreset } from './presets.ts';

/** A name with a dot or a slash is a file. */
async function readRun(client: Client, source: string): Promise<{ yaml: string; origin: string }> {
  const found = await stat(source).catch(() => null);
  if (found?.isDirectory() === true) {
    throw new AppError({
      code: 'FILE_INVALID',
      message: `${resolve(source)} is a folder; a run is a preset or a YAML file. Nothing was started. List the presets: daydream presets`,
    });
  }
  const size = found?.isFile() === true ? found.size : null;
  if (size === null && !/[./\\]/.test(source)) {
    return { yaml: (await findPreset(client, source)).yaml, origin: `preset ${source}` };
  }
  if (size === null) throw new AppError({ code: 'FILE_NOT_FOUND', message: `There is no file ${source}.` });
  if (size > 1_000_000)
    throw new AppError({
      code: 'FILE_INVALID',
      message: `${source} has ${bytes(size)}; a run file is small.`,
    });
  return { yaml: await readFile(source, 'utf8'), origin: source };
}

/** @throws AppError CONFIG_INVALID with file and line for a text that is no YAML */
async function runText({ client, seed }: Work, source: string, given: readonly string[]): Promise<RunText> {
  const { yaml, origin } = await readRun(client, source);
  const sets = [...given, ...(seed === undefined ? [] : [`seed=${String(seed)}`])];
  try {
    return { yaml: assign(yaml, sets.map(absolute)), origin, sets };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'CONFIG_INVALID') throw thrown;
    throw new AppError({
      code: 'CONFIG_INVALID',
      message: `${origin}, ${sentence(thrown.message)} Nothing was started.`,
      cause: thrown,
    });
  }
}

/** The command that was typed, without `--check`. */
function sameCommand(source: string, sets: readonly string[], seed: number | undefined): string {
  const words = ['daydream run', shellWord(source), ...sets.map((set) => `--set ${shellWord(set)}`)];
  return [...words, ...(seed === undefined ? [] : [`--seed ${String(seed)}`])].join(' ');
}

export function addRun(program: Command): void {
  program
    .command('run')
    .description('start a preset or a YAML file, and stay with it')
    .argument('<preset-or-file>', 'name of a preset, or a YAML file')
    .option('--set <key=value>', 'change one field (dotted path); may be repeated', collect, [])
    .option('--check', 'only check and estimate; start nothing', false)
    .showHelpAfterError(
      '(the fields of a run are set by --set, for example --set policy.model=FILE.gguf; add --help for examples)',
    )
    .option('--detach', detachHelp, false)
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
            const text = await runText(work, source, set);
            if (!onlyCheck) return startAndFollow(work, text, { detach });
            const checked = await work.client.runs.check({ yaml: text.yaml });
            const command = checked.command === '' ? '' : sameCommand(source, set, work.seed);
            const result = { ...checked, command };
            printResult(work.json, result, () =>
              [
                ...result.problems.map((problem) => problemLine(problem, text)),
                ...result.deviations.map(deviationLine),
                ...(result.estimate === null ? [] : [estimateLine(result.estimate)]),
                ...(command === '' ? [] : [`The same: ${command}`]),
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
