/** A GGUF again with some tensors replaced by float32 ones. Metadata (tokenizer, template) are copied byte by byte. */
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { AppError } from '#shared/errors.ts';
import { readGguf } from './read-gguf.ts';
import { tensorBytes } from './tensor-types.ts';
import { mostAtOnce, partOf } from './whole-file.ts';

const f32 = 0;

/**
 * Atomic, in small pieces: a model of many gigabytes does not stop the thread that copies it. What fails leaves nothing behind.
 * @param replacement values of a tensor, null to copy it as it is
 * @returns the names of the tensors of the file
 */
export async function copyGguf(
  base: string,
  file: string,
  replacement: (name: string) => Float32Array | null,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Set<string>> {
  const temporary = partOf(file);
  try {
    const names = await writeCopy(base, temporary, replacement, options.signal);
    // It is closed by now: Windows renames no open file.
    await rename(temporary, file);
    return names;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeCopy(
  base: string,
  file: string,
  replacement: (name: string) => Float32Array | null,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const header = readGguf(base);
  const aligned = (bytes: number): number => Math.ceil(bytes / header.alignment) * header.alignment;
  await using source = await open(base, 'r');
  await using target = await open(file, 'w');
  let offset = 0;
  const infos = header.tensors.map((tensor) => {
    const values = replacement(tensor.name);
    const elements = tensor.shape.reduce((product, size) => product * size, 1);
    if (values !== null && values.length !== elements) {
      throw new RangeError(`tensor ${tensor.name}: ${values.length} values for a shape of ${elements}`);
    }
    const bytes = values === null ? tensor.bytes : (tensorBytes(f32, elements) ?? 0);
    if (bytes === null) {
      throw new AppError({
        code: 'MODEL_UNSUPPORTED',
        message: `${base}: the tensor ${tensor.name} has the unknown type ${tensor.type}, so the file cannot be copied.`,
      });
    }
    const placed = { ...tensor, values, bytes, at: offset, type: values === null ? tensor.type : f32 };
    offset = aligned(offset + bytes);
    return placed;
  });
  const start = Buffer.alloc(24);
  start.write('GGUF', 'latin1');
  start.writeUInt32LE(3, 4);
  start.writeBigUInt64LE(BigInt(infos.length), 8);
  start.writeBigUInt64LE(BigInt(header.entries.count), 16);
  const entries = await read(source, header.entries.start, header.entries.end - header.entries.start, base);
  if (infos.some(({ values }) => values !== null)) declareFloat(entries);
  const head = Buffer.concat([start, entries, ...infos.map(tensorInfo)]);
  await write(target, head);
  await write(target, Buffer.alloc(aligned(head.length) - head.length));
  for (const info of infos) {
    for (let at = 0; at < info.bytes; at += mostAtOnce) {
      signal?.throwIfAborted();
      const length = Math.min(mostAtOnce, info.bytes - at);
      const piece =
        info.values === null
          ? await read(source, header.dataOffset + info.offset + at, length, base)
          : Buffer.from(info.values.buffer, info.values.byteOffset + at, length);
      await write(target, piece);
    }
    await write(target, Buffer.alloc(aligned(info.bytes) - info.bytes));
  }
  await target.sync();
  return new Set(infos.map(({ name }) => name));
}

/** `general.file_type` says what most tensors are: 0, float32. */
function declareFloat(entries: Buffer): void {
  const key = Buffer.from('general.file_type');
  const at = entries.indexOf(key);
  if (at < 8 || Number(entries.readBigUInt64LE(at - 8)) !== key.length) return;
  const type = at + key.length;
  if (entries.readUInt32LE(type) === 4) entries.writeUInt32LE(0, type + 4);
}

function tensorInfo(tensor: { name: string; shape: readonly number[]; type: number; at: number }): Buffer {
  const name = Buffer.from(tensor.name);
  const bytes = Buffer.alloc(8 + name.length + 4 + tensor.shape.length * 8 + 4 + 8);
  let position = bytes.writeBigUInt64LE(BigInt(name.length));
  position += name.copy(bytes, position);
  position = bytes.writeUInt32LE(tensor.shape.length, position);
  for (const size of tensor.shape) position = bytes.writeBigUInt64LE(BigInt(size), position);
  position = bytes.writeUInt32LE(tensor.type, position);
  bytes.writeBigUInt64LE(BigInt(tensor.at), position);
  return bytes;
}

async function read(source: FileHandle, from: number, length: number, file: string): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await source.read(bytes, at, length - at, from + at);
    if (bytesRead === 0) {
      throw new AppError({
        code: 'MODEL_FILE_TRUNCATED',
        message: `${file} ends at byte ${from + at}. Fetch it again.`,
      });
    }
    at += bytesRead;
  }
  return bytes;
}

async function write(target: FileHandle, bytes: Buffer): Promise<void> {
  let at = 0;
  while (at < bytes.length) at += (await target.write(bytes, at, bytes.length - at)).bytesWritten;
}
