/** How values lie in columns. Every reader goes through `parseRow`, so a damaged row is STORE_CORRUPT and never a wrong value. */
import type { z } from 'zod';
import type { SqlRow, SqlValue } from '#core/store/driver.ts';
import { AppError } from '#shared/errors.ts';
import type { Sha256 } from '#shared/ids.ts';

export function bit(value: boolean): number {
  return value ? 1 : 0;
}

/** 64 hexadecimal digits → 32 bytes. */
export function hashToBytes(hash: Sha256): Uint8Array {
  const bytes = Buffer.from(hash, 'hex');
  if (bytes.length !== 32) {
    throw new AppError({ code: 'INVALID_INPUT', message: `Not a SHA-256 in hexadecimal digits: ${hash}` });
  }
  return bytes;
}

export function hashFromBytes(value: SqlValue | undefined): string | null {
  return value instanceof Uint8Array ? bufferOf(value).toString('hex') : null;
}

/** Token ids → little-endian Uint32 (every platform we run on is little-endian). */
export function encodeTokens(ids: readonly number[]): Uint8Array {
  const array = new Uint32Array(ids.length);
  for (let index = 0; index < ids.length; index += 1) {
    const id = ids[index] ?? -1;
    array[index] = id;
    if (array[index] !== id) throw new AppError({ code: 'INVALID_INPUT', message: `Not a token id: ${id}` });
  }
  return new Uint8Array(array.buffer);
}

export function decodeTokens(value: SqlValue | undefined): number[] | null {
  if (!(value instanceof Uint8Array) || value.length % 4 !== 0) return null;
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  return Array.from({ length: value.length / 4 }, (_, index) => view.getUint32(index * 4, true));
}

/** Log-probabilities → little-endian Float32: what the model computed in, so nothing real is lost. */
export function encodeLogprobs(values: readonly number[]): Uint8Array {
  const array = Float32Array.from(values);
  if (!array.every(Number.isFinite)) {
    throw new AppError({ code: 'INVALID_INPUT', message: 'A log-probability is not a finite number.' });
  }
  return new Uint8Array(array.buffer);
}

export function decodeLogprobs(value: SqlValue | undefined): number[] | null {
  if (!(value instanceof Uint8Array) || value.length % 4 !== 0) return null;
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  return Array.from({ length: value.length / 4 }, (_, index) => view.getFloat32(index * 4, true));
}

export function encodeJson(value: unknown): string;
export function encodeJson(value: unknown, nullable: 'nullable'): string | null;
export function encodeJson(value: unknown, nullable?: 'nullable'): string | null {
  if (nullable !== undefined && value === null) return null;
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) {
    throw new AppError({ code: 'INVALID_INPUT', message: 'The value cannot be written as JSON.' });
  }
  return text;
}

/** A text that is no JSON becomes `undefined`, which no schema accepts: `parseRow` then reports the row. */
export function decodeJson(value: SqlValue | undefined): unknown {
  if (value === null || value === undefined) return null;
  try {
    return JSON.parse(String(value)) as unknown;
  } catch {
    return undefined;
  }
}

/** SQLite's 0/1 → boolean; anything else stays and is refused by the schema. */
export function flag(value: SqlValue | undefined): unknown {
  return value === 1 ? true : value === 0 ? false : value;
}

export function parseRow<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: { table: string; file: string },
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new AppError({
    code: 'STORE_CORRUPT',
    message:
      `A row of table ${where.table} in ${where.file} cannot be read (${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unknown'}). ` +
      'The file was not changed. Restore a backup, or report this with the file.',
    data: { file: where.file, table: where.table },
    cause: parsed.error,
  });
}

/** `count(*) AS n` and the like. */
export function numberOf(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  return typeof value === 'number' ? value : 0;
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
