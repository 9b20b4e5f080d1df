/** The tensors of a GGUF: checked before anything is computed (ggml would end the process), and read as float32. */
import { closeSync, openSync, readSync } from 'node:fs';
import { AppError } from '#shared/errors.ts';
import { ggmlTypes } from '#shared/ggml-types.ts';
import type { Architecture, StoredTensor } from '#shared/worker/trainer.ts';
import { tensorsOf } from './architecture.ts';
import type { Device } from './device.ts';
import { Graph } from './graph.ts';

/** Numbers of ggml's types that become float32 here. */
const readable: ReadonlySet<number> = new Set([0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 30]);
const most = 8;

/**
 * Checks the tensors of a file against its architecture.
 * @throws MODEL_UNSUPPORTED naming every tensor that is missing, unknown, of another shape, or stored in a type that is not read
 */
export function checkTensors(architecture: Architecture, stored: readonly StoredTensor[]): void {
  const { required, optional } = tensorsOf(architecture);
  const byName = new Map(stored.map((tensor) => [tensor.name, tensor]));
  const expected = new Map([...required, ...optional].map(({ name, shape }) => [name, shape]));
  const problems = [
    ...contradictions(architecture),
    ...required.filter(({ name }) => !byName.has(name)).map(({ name }) => `${name} is missing`),
    ...stored.flatMap((tensor) => {
      const { name, shape } = tensor;
      const wanted = expected.get(name);
      if (wanted === undefined)
        return [`${name} is not part of ${architecture.name} as it is supported here`];
      const same =
        wanted.every((size, index) => (shape[index] ?? 1) === size) &&
        shape.slice(wanted.length).every((size) => size === 1);
      return same
        ? storageProblems(tensor)
        : [`${name} is ${shape.join(' × ')}, expected ${wanted.join(' × ')}`];
    }),
  ];
  if (problems.length === 0) return;
  const shown = problems.slice(0, most).join('; ');
  throw new AppError({
    code: 'MODEL_UNSUPPORTED',
    message:
      `This model cannot be trained here: ${shown}${problems.length > most ? `; and ${problems.length - most} more` : ''}. ` +
      'Nothing was changed. Choose another base, or convert it again.',
  });
}

/** What no file can mean, and what ggml would end the process for. */
function contradictions(a: Architecture): string[] {
  return [
    ...(a.heads % a.kvHeads === 0 ? [] : [`${a.heads} heads do not share ${a.kvHeads} key heads evenly`]),
    ...(a.ropeDimensions % 2 === 0 && a.ropeDimensions <= a.headSize
      ? []
      : [`${a.ropeDimensions} rotary dimensions do not fit heads of ${a.headSize}`]),
  ];
}

function storageProblems({ name, shape, type, bytes }: StoredTensor): string[] {
  const known = readable.has(type) ? ggmlTypes[type] : undefined;
  if (known === undefined) {
    const names = [...readable].flatMap((code) => ggmlTypes[code]?.[0] ?? []);
    return [
      `${name} is stored in ggml's type ${type}, which training does not read (it reads ${names.join(', ')})`,
    ];
  }
  const [label, elements, size] = known;
  const [row = 1, ...rest] = shape;
  const rows = rest.reduce((product, dimension) => product * dimension, 1);
  if (row % elements !== 0)
    return [`${name} has rows of ${row}, no multiple of ${label}'s blocks of ${elements}`];
  const expected = (row / elements) * size * rows;
  return bytes === expected ? [] : [`${name} has ${bytes} bytes, ${label} of this shape has ${expected}`];
}

/**
 * Reads tensors of a file as float32, whatever their type, one at a time.
 * @throws MODEL_FILE_TRUNCATED, and MODEL_FILE_INVALID for a weight that is no finite number
 */
export async function* readTensors(
  device: Device,
  file: string,
  stored: readonly StoredTensor[],
): AsyncGenerator<{ tensor: StoredTensor; values: Float32Array }> {
  const descriptor = openSync(file, 'r');
  try {
    for (const tensor of stored) {
      const bytes = readBytes(descriptor, file, tensor);
      const values =
        tensor.type === 0 ? new Float32Array(bytes.buffer) : await dequantised(device, tensor, bytes);
      requireFinite(file, tensor.name, values);
      yield { tensor, values };
    }
  } finally {
    closeSync(descriptor);
  }
}

function readBytes(descriptor: number, file: string, tensor: StoredTensor): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(tensor.bytes);
  let at = 0;
  while (at < bytes.length) {
    const got = readSync(descriptor, bytes, at, bytes.length - at, tensor.offset + at);
    if (got === 0) {
      throw new AppError({
        code: 'MODEL_FILE_TRUNCATED',
        message: `${file} ends inside the tensor ${tensor.name}: ${bytes.length - at} of ${bytes.length} bytes are missing. Fetch the file again.`,
      });
    }
    at += got;
  }
  return bytes;
}

function requireFinite(file: string, name: string, values: Float32Array): void {
  // A sum is finite only if all of its terms are; one pass without a branch a weight.
  let sum = 0;
  for (const value of values) sum += value * 0;
  if (sum === 0) return;
  const at = values.findIndex((value) => !Number.isFinite(value));
  throw new AppError({
    code: 'MODEL_FILE_INVALID',
    message: `${file}: the tensor ${name} holds ${values[at]} at element ${at}. Nothing can be trained on it, and nothing was changed. Fetch the file again, or train the model it came from anew.`,
    data: { file, tensor: name },
  });
}

/** By ggml itself, on the processor. */
async function dequantised(device: Device, stored: StoredTensor, bytes: Uint8Array): Promise<Float32Array> {
  const [first = 1, ...rest] = stored.shape;
  const rows = rest.reduce((product, size) => product * size, 1);
  const graph = new Graph(device, 32);
  const source = graph.raw(stored.type, [first, rows, 1, 1]);
  const target = graph.constant('f32', first, rows);
  const buffer = device.allocate(graph);
  try {
    device.write(source, bytes);
    graph.expand(graph.copyInto(source, target));
    const allocator = device.newAllocator();
    device.place(allocator, graph.whole);
    await device.compute(graph.whole);
    device.freeAllocator(allocator);
    return device.read(target, first * rows);
  } finally {
    device.free(buffer);
    graph.dispose();
  }
}
