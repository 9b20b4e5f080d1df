/**
 * Writes GGUF version 3 (little-endian): header, metadata, tensor table, 32-byte aligned tensor data.
 * Used for random-weight models, the starter model and adapters; it streams tensor by tensor, so memory stays at one tensor.
 */
import { writeWhole } from './whole-file.ts';

export type GgufValue =
  | { type: 'uint32' | 'int32' | 'float32'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | { type: 'strings'; value: readonly string[] }
  | { type: 'float32s' | 'int32s'; value: readonly number[] };

/** `shape` in GGUF order: the fastest-running dimension first. */
export interface GgufTensor {
  name: string;
  shape: readonly number[];
  /** How the values are stored; F32 unless said otherwise. F16 rounds to the nearest. `code`: `data` are bytes of ggml's type of that number. */
  type?: 'F32' | 'F16' | { code: number; bytes: number };
  data: () => Float32Array | Uint8Array;
}

const typeCode = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const alignment = 32;

/** Atomic: a reader sees the whole file or none. */
export function writeGguf(
  file: string,
  content: { metadata: ReadonlyMap<string, GgufValue>; tensors: readonly GgufTensor[] },
): void {
  writeWhole(file, (write) => {
    write(headerBytes(content.metadata, content.tensors));
    for (const tensor of content.tensors) {
      const data = tensor.data();
      const stored = tensor.type === 'F16' ? new Float16Array(data) : data;
      const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
      const expected = storage(tensor).bytes;
      if (bytes.length !== expected) {
        throw new RangeError(
          `tensor ${tensor.name}: ${data.length} values, ${bytes.length} bytes, for a shape of ${expected}`,
        );
      }
      write(bytes);
      write(Buffer.alloc(padding(bytes.length)));
    }
  });
}

function headerBytes(metadata: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensor[]): Buffer {
  const out: Buffer[] = [
    Buffer.from('GGUF', 'latin1'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.size),
  ];
  for (const [key, value] of metadata) out.push(string(key), ...encodeValue(value));
  let offset = 0;
  for (const tensor of tensors) {
    out.push(string(tensor.name), uint32(tensor.shape.length), ...tensor.shape.map(uint64));
    const { code, bytes } = storage(tensor);
    out.push(uint32(code), uint64(offset));
    offset += bytes + padding(bytes);
  }
  const header = Buffer.concat(out);
  return Buffer.concat([header, Buffer.alloc(padding(header.length))]);
}

function encodeValue(value: GgufValue): Buffer[] {
  switch (value.type) {
    case 'uint32':
      return [uint32(typeCode.uint32), uint32(value.value)];
    case 'int32':
      return [uint32(typeCode.int32), int32(value.value)];
    case 'float32':
      return [uint32(typeCode.float32), float32(value.value)];
    case 'bool':
      return [uint32(typeCode.bool), Buffer.from([value.value ? 1 : 0])];
    case 'string':
      return [uint32(typeCode.string), string(value.value)];
    case 'strings':
      return [...arrayHead(typeCode.string, value.value.length), ...value.value.map(string)];
    case 'float32s':
      return [...arrayHead(typeCode.float32, value.value.length), ...value.value.map(float32)];
    case 'int32s':
      return [...arrayHead(typeCode.int32, value.value.length), ...value.value.map(int32)];
  }
}

function arrayHead(elementType: number, length: number): Buffer[] {
  return [uint32(typeCode.array), uint32(elementType), uint64(length)];
}

/** ggml's number of the type (0: F32, 1: F16), and the bytes of the tensor. */
function storage({ type, shape }: GgufTensor): { code: number; bytes: number } {
  if (typeof type === 'object') return type;
  const elements = shape.reduce((product, size) => product * size, 1);
  return type === 'F16' ? { code: 1, bytes: elements * 2 } : { code: 0, bytes: elements * 4 };
}

function padding(bytes: number): number {
  return (alignment - (bytes % alignment)) % alignment;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([uint64(bytes.length), bytes]);
}
