/**
 * An import's lines against the environment, before anything is executed: which become demonstrations of this run, and why the others
 * do not. `run --check` reads with the same eyes as the job.
 */
import { stat } from 'node:fs/promises';
import { AppError } from '#shared/errors.ts';
import type { Task } from '#shared/schema/environment.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { createMemory, identityHash } from '#core/agents/index.ts';
import type { ImportedDemonstration, RejectedLine } from '#core/early-experience/import-demonstrations.ts';
import { readDemonstrations } from '#core/early-experience/import-demonstrations.ts';

export type CheckedLine =
  { ok: true; demonstration: ImportedDemonstration; task: Task } | { ok: false; rejected: RejectedLine };

/** In the file's order. @throws AppError FILE_NOT_FOUND, FILE_INVALID */
export async function* importedLines(
  provider: EnvironmentProvider,
  split: EarlyExperienceRun['environment']['split'],
  file: string,
  options: { signal: AbortSignal },
): AsyncGenerator<CheckedLine> {
  const seen = new Map<string, number>();
  for await (const read of readDemonstrations(file, options)) {
    if (!read.ok) {
      yield read;
      continue;
    }
    const { demonstration } = read;
    const { line, taskId, actions, thoughts } = demonstration;
    const reject = (reason: string): CheckedLine => ({ ok: false, rejected: { line, reason } });
    const task = taskOf(provider, demonstration);
    const same = identityHash(taskId, actions, thoughts);
    const before = seen.get(same);
    if (task === null) yield reject(`the environment has no task ${taskId}`);
    else if (task.split !== split) {
      yield reject(`task ${taskId} belongs to the split ${task.split}, not ${split}`);
    } else if (before !== undefined) {
      yield reject(`the same demonstration came before, in line ${String(before)}`);
    } else {
      seen.set(same, line);
      yield { ok: true, demonstration, task };
    }
  }
}

export interface ImportCheck {
  usable: number;
  refused: number;
  /** The first of them. */
  listed: RejectedLine[];
}

/** A check lists so many refused lines; the job lists all. */
const LISTED = 5;

const remembered = createMemory<ImportCheck>();

/** Asked at each keystroke: a file that has not changed is read once. @throws AppError FILE_NOT_FOUND, FILE_INVALID */
export async function checkImport(
  provider: EnvironmentProvider,
  split: EarlyExperienceRun['environment']['split'],
  file: string,
  options: { signal: AbortSignal },
): Promise<ImportCheck> {
  const { mtimeMs, size } = await stat(file).catch(() => ({ mtimeMs: 0, size: 0 }));
  return remembered(provider, JSON.stringify([file, split, mtimeMs, size]), async () => {
    const check: ImportCheck = { usable: 0, refused: 0, listed: [] };
    for await (const line of importedLines(provider, split, file, options)) {
      if (line.ok) check.usable += 1;
      else {
        check.refused += 1;
        if (check.listed.length < LISTED) check.listed.push(line.rejected);
      }
    }
    return check;
  });
}

function taskOf(provider: EnvironmentProvider, { taskId }: ImportedDemonstration): Task | null {
  try {
    return provider.getTask(taskId);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}
