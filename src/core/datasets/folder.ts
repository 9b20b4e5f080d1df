/**
 * Whose the files of a data set's folder are. Ours are those that an export writes; whatever else lies there is the user's and is never
 * deleted, neither when the set is exported again nor when it is removed. So no folder is ever deleted whole.
 */
import { readFile, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { DatasetId } from '#shared/ids.ts';
import type { Dataset } from '#shared/schema/dataset.ts';
import { datasetPartSchema } from '#shared/schema/dataset.ts';

/** Holds the id of the set, so that a resumed export may replace its own earlier attempt and nobody else's. */
export const ownerFile = '.daydream-dataset';

/** The marker goes last: what a crash leaves behind is still known as ours. */
const writtenFiles = [
  ...datasetPartSchema.options.map((part) => `${part}.jsonl`),
  'manifest.json',
  'README.md',
  ownerFile,
];

/** @throws AppError FILE_EXISTS when it holds anything but an earlier attempt of `owner` */
export async function refuseForeignFolder(folder: string, owner: DatasetId): Promise<void> {
  const entries = await readdir(folder).catch(nothingIfAway<string[]>([]));
  if (entries.length === 0) return;
  const ours = (await ownerOf(folder)) === owner ? writtenFiles : [];
  const foreign = entries.filter((entry) => !ours.includes(entry));
  if (foreign.length > 0) throw notEmpty(folder, foreign);
}

/**
 * Makes room for a new folder of that name: an earlier attempt of `owner` goes, file by file.
 *
 * @throws AppError FILE_EXISTS when anything else has come into it, which stays
 */
export async function clearOwnFolder(folder: string, owner: DatasetId): Promise<void> {
  await refuseForeignFolder(folder, owner);
  if ((await ownerOf(folder)) === owner) await removeFiles(folder, writtenFiles);
  if (!(await removeIfEmpty(folder))) throw notEmpty(folder, await readdir(folder));
}

/** Deletes what the export of this set wrote; a folder that another set has taken over since is left alone. */
export async function deleteDatasetFolder({ datasetId, folder, manifest }: Dataset): Promise<void> {
  const owner = await ownerOf(folder);
  // Exports had no marker once.
  if (owner !== null && owner !== datasetId) return;
  // The names are data that could have been edited; outside the folder nothing is ours.
  await removeFiles(folder, [...manifest.files.map(({ file }) => path.basename(file)), ...writtenFiles]);
  await removeIfEmpty(folder);
}

async function ownerOf(folder: string): Promise<string | null> {
  const marker = await readFile(path.join(folder, ownerFile), 'utf8').catch(
    nothingIfAway<string | null>(null),
  );
  return marker?.trim() ?? null;
}

async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(path.join(folder, name), { force: true });
}

/** @returns false when something is in it */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    nothingIfAway(null)(thrown);
  }
  return true;
}

function nothingIfAway<Value>(value: Value): (thrown: unknown) => Value {
  return (thrown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return value;
    throw thrown;
  };
}

function notEmpty(folder: string, foreign: readonly string[]): AppError {
  const named = foreign.slice(0, 3).join(', ');
  return new AppError({
    code: 'FILE_EXISTS',
    message: `The folder ${folder} is not empty: it holds ${named}${foreign.length > 3 ? ' and more' : ''}. Nothing in it was touched and no data set was written there; choose another folder or empty this one.`,
    data: { folder },
  });
}
