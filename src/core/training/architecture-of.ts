/** From the header of a GGUF to what the trainer builds. Keys as llama.cpp reads them for each architecture. */
import { AppError } from '#shared/errors.ts';
import { architectureSchema, trainableArchitectures } from '#shared/worker/trainer.ts';
import type { Architecture, StoredTensor } from '#shared/worker/trainer.ts';
import { architectureNumber, textOf } from '#core/llm/index.ts';
import type { GgufHeader } from '#core/llm/index.ts';

/** @throws MODEL_UNSUPPORTED with the list of what is supported */
export function architectureOf(header: GgufHeader, file: string): Architecture {
  const name = textOf(header.metadata.get('general.architecture')) ?? 'unknown';
  const read = (key: string): number | null => {
    const value = header.metadata.get(`${name}.${key}`);
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
  };
  const width = architectureNumber(header, 'embedding_length');
  const heads = architectureNumber(header, 'attention.head_count');
  const headSize = read('attention.key_length') ?? width / Math.max(1, heads);
  const scaling = textOf(header.metadata.get(`${name}.rope.scaling.type`)) ?? 'none';
  if (scaling !== 'none' && scaling !== 'linear') throw unsupported(file, `its rope scaling is "${scaling}"`);
  const factor = scaling === 'linear' ? (read('rope.scaling.factor') ?? 1) : 1;
  const window = name === 'gemma3' ? read('attention.sliding_window') : null;
  const table = header.tensors.find((tensor) => tensor.name === 'token_embd.weight');
  const parsed = architectureSchema.safeParse({
    name,
    layers: architectureNumber(header, 'block_count'),
    width,
    heads,
    kvHeads: architectureNumber(header, 'attention.head_count_kv', heads),
    headSize,
    hidden: architectureNumber(header, 'feed_forward_length'),
    vocabulary: table?.shape[1] ?? 0,
    contextLength: architectureNumber(header, 'context_length'),
    epsilon: read('attention.layer_norm_rms_epsilon') ?? 1e-5,
    ropeDimensions: read('rope.dimension_count') ?? headSize,
    ropeBase: read('rope.freq_base') ?? 10_000,
    ropeScale: 1 / factor,
    window,
    windowPattern: window === null ? 1 : 6,
    windowRopeBase: read('rope.freq_base_swa') ?? 10_000,
    attentionScale: 1 / Math.sqrt(headSize),
  } satisfies Record<keyof Architecture, unknown>);
  if (parsed.success) return parsed.data;
  if (!(trainableArchitectures as readonly string[]).includes(name))
    throw unsupported(file, `its architecture is "${name}"`);
  throw unsupported(
    file,
    `its metadata lack or contradict: ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}`,
  );
}

/** @throws MODEL_UNSUPPORTED for a tensor type that ggml of this version does not know */
export function storedTensors(header: GgufHeader, file: string): StoredTensor[] {
  return header.tensors.map(({ name, shape, type, offset, bytes }) => {
    if (bytes === null) throw unsupported(file, `the tensor ${name} has the unknown type ${type}`);
    return { name, shape, type, offset: header.dataOffset + offset, bytes };
  });
}

function unsupported(file: string, reason: string): AppError {
  return new AppError({
    code: 'MODEL_UNSUPPORTED',
    message:
      `${file} cannot be trained here: ${reason}. Supported: the architectures ${trainableArchitectures.join(', ')} with no or ` +
      'linear rope scaling. It still runs as a policy, and its data sets train elsewhere.',
    data: { file },
  });
}
