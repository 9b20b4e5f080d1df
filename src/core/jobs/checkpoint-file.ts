/** Checkpoint data that is too large for the database. The file is complete before anything points to it. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hash } from 'node:crypto';
import { makeFolder } from '#core/make-folder.ts';
import { AppError } from '#shared/errors.ts';
import type { Sha256 } from '#shared/ids.ts';

/** Goes into the checkpoint that `commitStep` stores. */
export interface CheckpointFile {
  file: string;
  bytes: number;
  sha256: Sha256;
}

/**
 * Writes under a temporary name, fsyncs, renames, fsyncs the folder. Throws DISK_FULL; an earlier file of this name is intact
 * then. Use a new name for each checkpoint, so that the one still pointed to is never replaced.
 */
export function writeCheckpointFile(folder: string, name: string, content: Uint8Array): CheckpointFile {
  const file = path.join(folder, name);
  const temporary = `${file}.partial`;
  try {
    makeFolder(folder);
    const descriptor = openSync(temporary, 'w');
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
    syncFolder(folder);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (isNoSpace(error)) {
      throw new AppError({
        code: 'DISK_FULL',
        message: `The checkpoint ${file} could not be written: the disk is full. The checkpoint before it is kept. Free some space, then resume the job.`,
        data: { file },
        cause: error,
      });
    }
    throw error;
  }
  return { file, bytes: content.length, sha256: hash('sha256', content, 'hex') as Sha256 };
}

/** Throws FILE_NOT_FOUND or FILE_INVALID (truncated or changed). */
export function readCheckpointFile(checkpoint: CheckpointFile): Buffer {
  let content: Buffer;
  try {
    content = readFileSync(checkpoint.file);
  } catch (error) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `The checkpoint file ${checkpoint.file} is gone. Start the job again; finished episodes are not run twice.`,
      data: { file: checkpoint.file },
      cause: error,
    });
  }
  if (hash('sha256', content, 'hex') !== checkpoint.sha256) {
    throw new AppError({
      code: 'FILE_INVALID',
      message: `The checkpoint file ${checkpoint.file} was changed or cut (${content.length} of ${checkpoint.bytes} bytes). Start the job again; finished episodes are not run twice.`,
      data: { file: checkpoint.file, bytes: content.length },
    });
  }
  return content;
}

/** A rename is durable only when its folder is. Windows cannot open folders and orders renames itself. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isNoSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
