/** A GGUF again with some tensors replaced by float32 ones. Metadata (tokenizer, template) are copied byte by byte. */
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { AppError } from '#shared/errors.ts';
import { readGguf } from './read-gguf.ts';
import { tensorBytes } from './tensor-types.ts';

const f32 = 0;

/**
 * Atomic. @param replacement values of a tensor, null to copy it as it is
 * @returns the names of the tensors of the file
 */
export function copyGguf(
  base: string,
  file: string,
  replacement: (name: string) => Float32Array | null,
): Set<string> {
  const header = readGguf(base);
  const aligned = (bytes: number): number => Math.ceil(bytes / header.alignment) * header.alignment;
  const source = openSync(base, 'r');
  const temporary = `${file}.${process.pid}.part`;
  const target = openSync(temporary, 'w');
  try {
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
    const entries = readExactly(
      source,
      header.entries.start,
      header.entries.end - header.entries.start,
      base,
    );
    if (infos.some(({ values }) => values !== null)) declareFloat(entries);
    const head = Buffer.concat([start, entries, ...infos.map(tensorInfo)]);
    writeAll(target, head);
    writeAll(target, Buffer.alloc(aligned(head.length) - head.length));
    for (const info of infos) {
      const bytes =
        info.values === null
          ? readExactly(source, header.dataOffset + info.offset, info.bytes, base)
          : Buffer.from(info.values.buffer, info.values.byteOffset, info.values.byteLength);
      writeAll(target, bytes);
      writeAll(target, Buffer.alloc(aligned(bytes.length) - bytes.length));
    }
    fsyncSync(target);
    closeSync(target);
    renameSync(temporary, file);
    return new Set(infos.map(({ name }) => name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(source);
  }
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

function readExactly(descriptor: number, from: number, length: number, file: string): Buffer {
  const bytes = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const got = readSync(descriptor, bytes, at, length - at, from + at);
    if (got === 0) {
      throw new AppError({
        code: 'MODEL_FILE_TRUNCATED',
        message: `${file} ends at byte ${from + at}. Fetch it again.`,
      });
    }
    at += got;
  }
  return bytes;
}

function writeAll(descriptor: number, bytes: Buffer): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(descriptor, bytes, at);
}
