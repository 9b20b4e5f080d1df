/**
 * Reads a GGUF header: metadata and tensor table, never weights. Bounded whatever the file claims: every length is checked
 * against the bytes that are left before anything is allocated, large arrays are walked but not kept. So a hostile or
 * truncated file costs at most one pass over its own bytes, and the error names the place.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AppError } from '#shared/errors.ts';
import { tensorBytes } from './tensor-types.ts';

export type MetadataValue = number | bigint | boolean | string | readonly number[] | ArraySummary;

/** An array too long, or of strings or arrays: only its size is kept. */
export interface ArraySummary {
  arrayLength: number;
  /** Where its elements lie, in bytes of the file. */
  start: number;
  end: number;
}

export interface TensorInfo {
  name: string;
  shape: number[];
  type: number;
  /** Relative to the start of the tensor data. */
  offset: number;
  /** null for a tensor type this reader does not know. */
  bytes: number | null;
}

export interface GgufHeader {
  version: number;
  metadata: Map<string, MetadataValue>;
  tensors: TensorInfo[];
  /** Where the metadata entries begin and end, in bytes of the file; how many there are. */
  entries: { start: number; end: number; count: number };
  alignment: number;
  /** Where tensor data begins. */
  dataOffset: number;
  fileBytes: number;
}

const maxEntries = 1_000_000;
const maxKeyBytes = 65_535;
const maxKeptString = 16 * 1024 * 1024;
const maxKeptNumbers = 4096;
const maxDimensions = 4;
/** No list of a header is longer, in bytes; what claims more is damaged, not cut off. */
const longestClaim = 2 ** 32;

/** @throws FILE_NOT_FOUND, MODEL_FILE_INVALID, MODEL_FILE_TRUNCATED, MODEL_UNSUPPORTED */
export function readGguf(file: string): GgufHeader {
  const descriptor = open(file);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw invalid(file, 'it is not a regular file');
    return readHeader(new Cursor(descriptor, file, status.size));
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new AppError({
      code: code === 'ENOENT' || code === 'ENOTDIR' ? 'FILE_NOT_FOUND' : 'MODEL_FILE_INVALID',
      message:
        code === 'ENOENT' || code === 'ENOTDIR'
          ? `There is no file ${file}. Was it moved, or is the disk not mounted?`
          : `${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
      data: { file },
      cause: error,
    });
  }
}

function readHeader(cursor: Cursor): GgufHeader {
  const magic = cursor.bytes(4, 'the magic number').toString('latin1');
  if (magic !== 'GGUF') {
    throw invalid(cursor.file, `it begins with ${JSON.stringify(magic)} where a GGUF file has "GGUF"`);
  }
  const version = cursor.uint32('the version');
  if (version !== 2 && version !== 3) {
    const bigEndian = version === 0x02000000 || version === 0x03000000;
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `${cursor.file} is GGUF ${bigEndian ? 'in big-endian byte order' : `version ${version}`}; versions 2 and 3 in little-endian order can be read. Convert it anew.`,
      data: { file: cursor.file, version },
    });
  }
  const tensorCount = cursor.count('the number of tensors');
  const entryCount = cursor.count('the number of metadata entries');
  const metadata = new Map<string, MetadataValue>();
  const start = cursor.position;
  for (let index = 0; index < entryCount; index += 1) {
    const key = cursor.text(maxKeyBytes, `metadata key ${index + 1} of ${entryCount}`);
    if (metadata.has(key)) throw invalid(cursor.file, `the metadata key ${key} appears twice`);
    metadata.set(key, readValue(cursor, cursor.uint32(`the type of ${key}`), key));
  }
  const entries = { start, end: cursor.position, count: entryCount };
  const tensors: TensorInfo[] = [];
  for (let index = 0; index < tensorCount; index += 1) tensors.push(readTensor(cursor, index, tensorCount));
  const alignment = alignmentOf(metadata, cursor.file);
  const dataOffset = Math.ceil(cursor.position / alignment) * alignment;
  checkLayout(cursor.file, tensors, alignment);
  checkExtents(cursor, tensors, dataOffset);
  return { version, metadata, tensors, entries, alignment, dataOffset, fileBytes: cursor.size };
}

function readValue(cursor: Cursor, type: number, key: string): MetadataValue {
  const what = `the value of ${key}`;
  switch (type) {
    case 0:
      return cursor.bytes(1, what).readUInt8();
    case 1:
      return cursor.bytes(1, what).readInt8();
    case 2:
      return cursor.bytes(2, what).readUInt16LE();
    case 3:
      return cursor.bytes(2, what).readInt16LE();
    case 4:
      return cursor.uint32(what);
    case 5:
      return cursor.bytes(4, what).readInt32LE();
    case 6:
      return cursor.bytes(4, what).readFloatLE();
    case 7:
      return cursor.bytes(1, what).readUInt8() !== 0;
    case 8:
      return cursor.text(maxKeptString, what);
    case 9:
      return readArray(cursor, key);
    case 10:
      return cursor.bytes(8, what).readBigUInt64LE();
    case 11:
      return cursor.bytes(8, what).readBigInt64LE();
    case 12:
      return cursor.bytes(8, what).readDoubleLE();
    default:
      throw invalid(cursor.file, `${key} has the unknown value type ${type} at byte ${cursor.position - 4}`);
  }
}

const scalarBytes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};

function readArray(cursor: Cursor, key: string): MetadataValue {
  const type = cursor.uint32(`the element type of ${key}`);
  const length = cursor.uint64(`the length of ${key}`);
  const size = scalarBytes[type];
  if (size === undefined && type !== 8) {
    throw invalid(cursor.file, `${key} is an array of the unsupported type ${type}`);
  }
  // A string costs at least its 8-byte length.
  cursor.require(length * (size ?? 8), `the ${length} elements of ${key}`);
  const start = cursor.position;
  if (size === undefined) {
    for (let index = 0; index < length; index += 1) {
      cursor.skip(cursor.uint64(`the length of ${key}[${index}]`), `${key}[${index}]`);
    }
    return { arrayLength: length, start, end: cursor.position };
  }
  if (length > maxKeptNumbers) {
    cursor.skip(length * size, key);
    return { arrayLength: length, start, end: cursor.position };
  }
  return Array.from({ length }, () => Number(readValue(cursor, type, key)));
}

function readTensor(cursor: Cursor, index: number, count: number): TensorInfo {
  const name = cursor.text(maxKeyBytes, `the name of tensor ${index + 1} of ${count}`);
  const dimensions = cursor.uint32(`the dimensions of ${name}`);
  if (dimensions > maxDimensions)
    throw invalid(cursor.file, `tensor ${name} claims ${dimensions} dimensions`);
  const shape = Array.from({ length: dimensions }, () => cursor.uint64(`the shape of ${name}`));
  const type = cursor.uint32(`the type of ${name}`);
  const offset = cursor.uint64(`the offset of ${name}`);
  const elements = shape.reduce((product, size) => product * size, 1);
  if (!Number.isSafeInteger(elements)) {
    throw invalid(cursor.file, `tensor ${name} claims the impossible shape ${shape.join(' × ')}`);
  }
  return { name, shape, type, offset, bytes: tensorBytes(type, elements) };
}

function alignmentOf(metadata: ReadonlyMap<string, MetadataValue>, file: string): number {
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || alignment < 1 || alignment > 65_536 || !Number.isInteger(alignment)) {
    throw invalid(file, 'general.alignment is not a sensible number of bytes');
  }
  return alignment;
}

/** Tensors lie one behind the other, and llama.cpp insists on it: where one does not, the header is damaged and no size follows from it. */
function checkLayout(file: string, tensors: readonly TensorInfo[], alignment: number): void {
  let expected = 0;
  for (const { name, offset, bytes } of tensors) {
    if (offset !== expected) {
      throw invalid(
        file,
        `its header is damaged: tensor ${name} begins at byte ${count(offset)} of the data, the ones before it end at ${count(expected)}`,
      );
    }
    if (bytes === null) return;
    expected += Math.ceil(bytes / alignment) * alignment;
  }
}

/** A download that broke off is told by its size: what is there, and what the header promises. */
function checkExtents(cursor: Cursor, tensors: readonly TensorInfo[], dataOffset: number): void {
  const ends = tensors.map(({ offset, bytes }) => dataOffset + offset + (bytes ?? 1));
  const promised = ends.reduce((longest, end) => Math.max(longest, end), 0);
  if (promised <= cursor.size) return;
  const cut = ends.filter((end) => end > cursor.size).length;
  throw new AppError({
    code: 'MODEL_FILE_TRUNCATED',
    message: `${cursor.file} is cut off: ${count(cursor.size)} bytes are there, its header promises ${count(promised)}; ${count(cut)} of ${count(tensors.length)} tensors are not whole. Download or copy it again.`,
    data: { file: cursor.file, fileBytes: cursor.size, neededBytes: promised },
  });
}

function count(value: number): string {
  return value.toLocaleString('en');
}

/** Sequential reads through one window. */
class Cursor {
  readonly file: string;
  readonly size: number;
  readonly #descriptor: number;
  #window = Buffer.alloc(0);
  #windowStart = 0;
  position = 0;

  constructor(descriptor: number, file: string, size: number) {
    this.#descriptor = descriptor;
    this.file = file;
    this.size = size;
  }

  require(length: number, what: string): void {
    const needed = this.position + length;
    if (needed <= this.size) return;
    if (length > longestClaim) {
      throw invalid(this.file, `its header is damaged: ${what} claim ${count(length)} bytes`);
    }
    throw new AppError({
      code: 'MODEL_FILE_TRUNCATED',
      message: `${this.file} is cut off: ${count(this.size)} bytes are there, its header promises at least ${count(needed)}; it ends within ${what}. Download or copy it again.`,
      data: { file: this.file, fileBytes: this.size, neededBytes: needed },
    });
  }

  bytes(length: number, what: string): Buffer {
    this.require(length, what);
    const from = this.position - this.#windowStart;
    if (from < 0 || from + length > this.#window.length) this.#load(length);
    const start = this.position - this.#windowStart;
    this.position += length;
    return this.#window.subarray(start, start + length);
  }

  skip(length: number, what: string): void {
    this.require(length, what);
    this.position += length;
  }

  uint32(what: string): number {
    return this.bytes(4, what).readUInt32LE();
  }

  uint64(what: string): number {
    const value = this.bytes(8, what).readBigUInt64LE();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw invalid(this.file, `${what} at byte ${this.position - 8} is the impossible number ${value}`);
    }
    return Number(value);
  }

  count(what: string): number {
    const value = this.uint64(what);
    if (value > maxEntries) throw invalid(this.file, `${what} is ${value}`);
    return value;
  }

  text(maxLength: number, what: string): string {
    const length = this.uint64(`the length of ${what}`);
    // A cut file has sensible lengths: this one tells of damage, whatever is there behind it.
    if (length > maxLength) {
      throw invalid(this.file, `its header is damaged: ${what} claims ${count(length)} bytes`);
    }
    this.require(length, what);
    return this.bytes(length, what).toString('utf8');
  }

  #load(length: number): void {
    const wanted = Math.min(Math.max(length, 1 << 18), this.size - this.position);
    const window = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const read = readSync(this.#descriptor, window, filled, wanted - filled, this.position + filled);
      if (read === 0) break;
      filled += read;
    }
    this.#window = window.subarray(0, filled);
    this.#windowStart = this.position;
    if (filled < length) this.require(this.size, 'what was readable a moment ago');
  }
}

function invalid(file: string, reason: string): AppError {
  return new AppError({
    code: 'MODEL_FILE_INVALID',
    message: `${file} is not a usable GGUF model: ${reason}. Choose another file, or download it again.`,
    data: { file },
  });
}
