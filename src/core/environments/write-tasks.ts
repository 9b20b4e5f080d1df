/**
 * Writes tasks of a world as the files of its benchmark, all or nothing: into a folder beside the target, then one rename. Nothing that
 * lies in the target is touched; a folder that is not empty is refused.
 */
import { readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#shared/errors.ts';
import type { Split, Task } from '#shared/schema/environment.ts';
import { makeFolder } from '#core/make-folder.ts';
import type { EnvironmentProvider } from './port.ts';

export interface TasksToWrite {
  /** null: all of them. */
  split: Split | null;
  /** Empty: all of them. */
  taskTypes: readonly string[];
  /** The first so many of each split, in the order in which they are listed; null: all of them. */
  tasksPerSplit: number | null;
  /** Absolute; must not exist, or be empty. */
  folder: string;
}

export interface WrittenTasks {
  folder: string;
  tasks: number;
  files: number;
  bytes: number;
  splits: { split: Split; tasks: number }[];
}

/** @throws AppError FILE_EXISTS, INVALID_INPUT (nothing to write), CANCELLED, DISK_FULL, FILE_INVALID */
export async function writeTasks(
  provider: EnvironmentProvider,
  wanted: TasksToWrite,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<WrittenTasks> {
  if (provider.taskFiles === undefined) throw noFiles(provider);
  const tasks = tasksToWrite(provider, wanted);
  const { folder } = wanted;
  await refuseTaken(folder);
  const partial = `${folder}.partial-${String(process.pid)}-${String(tasks.length)}`;
  const written: WrittenTasks = { folder, tasks: 0, files: 0, bytes: 0, splits: [] };
  const counts = new Map<Split, number>();
  try {
    await rm(partial, { recursive: true, force: true });
    makeFolder(partial);
    for (const task of tasks) {
      signal?.throwIfAborted();
      // Each task is solved for its walkthrough: meanwhile the host answers others.
      await nextTurn();
      const { folder: place, files } = provider.taskFiles(task.taskId);
      const target = path.join(partial, ...place.split('/'));
      makeFolder(target);
      for (const { name, text } of files) {
        await writeFile(path.join(target, name), text, { flag: 'wx' });
        written.files += 1;
        written.bytes += Buffer.byteLength(text);
      }
      written.tasks += 1;
      counts.set(task.split, (counts.get(task.split) ?? 0) + 1);
    }
    // Asked again: meanwhile somebody may have put something there.
    await refuseTaken(folder);
    await rmdir(folder).catch(() => undefined);
    await rename(partial, folder);
  } catch (thrown) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw writeFailure(folder, thrown, signal);
  }
  return { ...written, splits: [...counts].map(([split, number]) => ({ split, tasks: number })) };
}

function tasksToWrite(provider: EnvironmentProvider, wanted: TasksToWrite): Task[] {
  const { id, splits, taskTypes } = provider.describe();
  const unknown = wanted.taskTypes.find((type) => !taskTypes.includes(type));
  if (unknown !== undefined) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `${id} has no task type ${unknown}; nothing was written. It has: ${taskTypes.join(', ')}.`,
    });
  }
  const tasks = splits
    .filter(({ split }) => wanted.split === null || split === wanted.split)
    .flatMap(({ split }) => {
      const matching = provider
        .listTasks({ split })
        .tasks.filter(({ type }) => wanted.taskTypes.length === 0 || wanted.taskTypes.includes(type));
      return wanted.tasksPerSplit === null ? matching : matching.slice(0, wanted.tasksPerSplit);
    });
  if (tasks.length > 0) return tasks;
  throw new AppError({
    code: 'INVALID_INPUT',
    message: `${id} has no such tasks; nothing was written. Its splits: ${splits.map((one) => `${one.split} ${String(one.tasks)}`).join(', ')}.`,
  });
}

function noFiles(provider: EnvironmentProvider): AppError {
  const { id, folder } = provider.describe();
  return new AppError({
    code: 'INVALID_INPUT',
    message:
      folder === null
        ? `The tasks of ${id} cannot be written as files of another benchmark; nothing was written.`
        : `The tasks of ${id} are files already, in ${folder}: copy them from there. Nothing was written.`,
    data: { environmentId: id },
  });
}

async function refuseTaken(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found === null) return;
  const entries = found.isDirectory() ? await readdir(folder) : null;
  if (entries?.length === 0) return;
  const what = entries === null ? 'is a file' : `is not empty: it holds ${entries.slice(0, 3).join(', ')}`;
  throw new AppError({
    code: 'FILE_EXISTS',
    message: `${folder} ${what}. Nothing in it was touched and no task was written; name a folder that is empty or does not exist yet.`,
    data: { folder },
  });
}

function writeFailure(folder: string, thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) {
    return new AppError({
      code: 'CANCELLED',
      message: `Writing tasks to ${folder} was stopped. Nothing was left there.`,
      cause: thrown,
    });
  }
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  if (thrown instanceof AppError || code === undefined) return thrown;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError({
    code: full ? 'DISK_FULL' : 'FILE_INVALID',
    message: full
      ? `The disk of ${folder} is full. What was half-written was removed; free space or choose another folder.`
      : `The folder ${folder} cannot be written (${code}). Nothing was left there; choose another one.`,
    data: { folder },
    cause: thrown,
  });
}
