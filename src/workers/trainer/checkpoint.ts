/**
 * One file: a length, a JSON head, then the flat arrays of every group as float32 (little-endian). Written beside, synced and
 * renamed, so a reader finds the old one or the new one. Restoring equals never having stopped, bit by bit.
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import type { Tensor } from './graph.ts';
import { updateRules } from './weights.ts';
import type { DeviceWeights, FlatGroup } from './weights.ts';

const headSchema = z.object({
  format: z.literal('daydream-checkpoint/1'),
  update: z.int().nonnegative(),
  note: z.json(),
  slots: z.array(
    z.object({ name: z.string(), shape: z.array(z.int()), offset: z.int(), group: z.enum(updateRules) }),
  ),
  groups: z.array(z.object({ rule: z.enum(updateRules), length: z.int() })),
});

/** A single read or write takes at most 2 GiB. */
const mostAtOnce = 64 * 1024 * 1024;
/** A head names each trained tensor: far below this. */
const longestHead = 64 * 1024 * 1024;

const arraysOf = (group: FlatGroup): Tensor[] => [group.parameters, group.firstMoments, group.secondMoments];

/** @throws DISK_FULL; the checkpoint before is kept */
export function saveCheckpoint(
  file: string,
  weights: DeviceWeights,
  state: { update: number; note: z.infer<ReturnType<typeof z.json>> },
): number {
  const head = Buffer.from(
    JSON.stringify({
      format: 'daydream-checkpoint/1',
      ...state,
      slots: weights.slots.map(({ name, shape, offset, group }) => ({
        name,
        shape: [...shape],
        offset,
        group,
      })),
      groups: weights.groups.map(({ rule, length }) => ({ rule, length })),
    } satisfies z.input<typeof headSchema>),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(head.length));
  const temporary = `${file}.${process.pid}.part`;
  let bytes = length.length + head.length;
  const descriptor = openSync(temporary, 'w');
  try {
    writeAll(descriptor, length);
    writeAll(descriptor, head);
    for (const group of weights.groups) {
      for (const tensor of arraysOf(group)) {
        const values = weights.device.read(tensor, group.length);
        writeAll(descriptor, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
        bytes += values.byteLength;
      }
    }
    fsyncSync(descriptor);
  } catch (error) {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') {
      throw new AppError({
        code: 'DISK_FULL',
        message: `The disk is full: the checkpoint ${file} was not replaced; the one before it is kept. Free some space and resume.`,
        cause: error,
      });
    }
    throw error;
  }
  closeSync(descriptor);
  renameSync(temporary, file);
  return bytes;
}

/** @throws FILE_NOT_FOUND, FILE_INVALID: not a checkpoint, truncated, or of another model or mode */
export function restoreCheckpoint(
  file: string,
  weights: DeviceWeights,
): { update: number; note: z.infer<ReturnType<typeof z.json>> } {
  let descriptor: number;
  let size: number;
  try {
    descriptor = openSync(file, 'r');
    size = fstatSync(descriptor).size;
  } catch (error) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `The checkpoint ${file} cannot be read: ${String(error)}`,
      cause: error,
    });
  }
  try {
    return restoreFrom({ file, descriptor, size }, weights);
  } finally {
    closeSync(descriptor);
  }
}

/** In pieces: Node reads no file of more than 2 GiB at once, and 180 million weights have a larger checkpoint. */
function restoreFrom(
  { file, descriptor, size }: { file: string; descriptor: number; size: number },
  weights: DeviceWeights,
): { update: number; note: z.infer<ReturnType<typeof z.json>> } {
  const read = (from: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    let at = 0;
    while (at < length) {
      const got = readSync(descriptor, bytes, at, length - at, from + at);
      if (got === 0) throw invalid(file, 'it was cut off while it was read');
      at += got;
    }
    return bytes;
  };
  const headLength = size >= 8 ? Number(read(0, 8).readBigUInt64LE(0)) : Infinity;
  if (headLength > Math.min(size - 8, longestHead))
    throw invalid(file, 'it is no checkpoint, or was cut off');
  let head: z.infer<typeof headSchema>;
  try {
    head = headSchema.parse(JSON.parse(read(8, headLength).toString('utf8')));
  } catch (error) {
    throw invalid(file, 'its head cannot be read', error);
  }
  const own = weights.slots.map(({ name, shape, offset }) => `${name} ${shape.join('×')} @${offset}`);
  const theirs = head.slots.map(({ name, shape, offset }) => `${name} ${shape.join('×')} @${offset}`);
  const differs = own.findIndex((slot, index) => slot !== theirs[index]);
  if (differs >= 0 || own.length !== theirs.length) {
    throw invalid(
      file,
      `it belongs to other weights (${theirs[Math.max(0, differs)] ?? 'nothing'} instead of ${own[Math.max(0, differs)] ?? 'nothing'})`,
    );
  }
  let at = 8 + headLength;
  const expected = at + weights.groups.reduce((sum, { length }) => sum + length * 12, 0);
  if (size !== expected) throw invalid(file, `it has ${size} bytes instead of ${expected}`);
  for (const group of weights.groups) {
    for (const tensor of arraysOf(group)) {
      const end = group.length * 4;
      for (let done = 0; done < end; done += mostAtOnce) {
        const piece = read(at + done, Math.min(mostAtOnce, end - done));
        weights.device.write(tensor, piece, done);
      }
      at += end;
    }
  }
  return { update: head.update, note: head.note };
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(descriptor, bytes, at, Math.min(mostAtOnce, bytes.length - at));
}

function invalid(file: string, reason: string, cause?: unknown): AppError {
  return new AppError({
    code: 'FILE_INVALID',
    message: `${file} cannot be used as a checkpoint: ${reason}. Nothing was changed; start the training again or choose another checkpoint.`,
    ...(cause === undefined ? {} : { cause }),
  });
}
