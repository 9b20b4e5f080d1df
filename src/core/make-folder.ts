/**
 * A folder with its missing parents. Not `mkdir(…, { recursive: true })`: where the parent exists and yet answers ENOENT (/proc on
 * Linux), that call of Node tries for ever.
 */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';

/** @throws AppError FILE_INVALID or DISK_FULL; parents that could be made before stay */
export function makeFolder(folder: string): void {
  try {
    for (const missing of missingFolders(path.resolve(folder))) makeOne(missing);
  } catch (cause) {
    const code = codeOf(cause);
    const full = code === 'ENOSPC' || code === 'EDQUOT';
    throw new AppError({
      code: full ? 'DISK_FULL' : 'FILE_INVALID',
      message: full
        ? `The folder ${folder} cannot be made: its disk is full. What was stored before is intact. Free some space, then try again.`
        : `The folder ${folder} cannot be made (${code}). Nothing was changed there. Choose another one, or check that you may write there.`,
      data: { folder },
      cause,
    });
  }
}

/** Outermost first; empty when the folder is there. */
function missingFolders(folder: string): string[] {
  if (isFolder(folder)) return [];
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [...missingFolders(parent), folder];
}

function isFolder(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory()) return true;
  throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' });
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process made it in between; a link into nowhere is still no folder.
    if (codeOf(error) !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
