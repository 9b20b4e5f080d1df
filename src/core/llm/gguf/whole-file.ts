/** A file that is there as a whole or not at all. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Where what is written lies until it is complete. */
export function partOf(file: string): string {
  return `${file}.${process.pid}.part`;
}

/** Atomic. What fails leaves nothing behind and holds no space: an open file that was removed keeps its blocks on the disk. */
export function writeWhole(file: string, fill: (write: (bytes: Buffer) => void) => void): void {
  const temporary = partOf(file);
  const descriptor = openSync(temporary, 'w');
  try {
    try {
      fill((bytes) => {
        let at = 0;
        while (at < bytes.length)
          at += writeSync(descriptor, bytes, at, Math.min(bytes.length - at, mostAtOnce));
      });
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** A single write or read takes at most 2 GiB; this much at a time also lets others in between. */
export const mostAtOnce = 16 * 1024 * 1024;
