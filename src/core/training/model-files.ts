/** What a training leaves behind: an adapter, or a whole model, as GGUF files that node-llama-cpp loads. */
import { AppError } from '#shared/errors.ts';
import { copyGguf, tokenizerKey, writeGguf } from '#core/llm/index.ts';

export interface NamedTensor {
  name: string;
  shape: readonly number[];
  values: Float32Array;
}

/** llama.cpp's adapter format: `….lora_a` [in, rank] and `….lora_b` [rank, out]; it counts alpha / rank. */
export function writeAdapter(
  file: string,
  adapter: {
    architecture: string;
    alpha: number;
    name: string;
    /** SHA-256 of the tokens that it was trained with; null where the base names none. */
    tokenizer: string | null;
    tensors: readonly NamedTensor[];
  },
): void {
  writeGguf(file, {
    metadata: new Map([
      ['general.type', { type: 'string', value: 'adapter' }],
      ['general.architecture', { type: 'string', value: adapter.architecture }],
      ['general.name', { type: 'string', value: adapter.name }],
      ['adapter.type', { type: 'string', value: 'lora' }],
      ['adapter.lora.alpha', { type: 'float32', value: adapter.alpha }],
      ...(adapter.tokenizer === null
        ? []
        : [[tokenizerKey, { type: 'string', value: adapter.tokenizer }] as const]),
    ]),
    tensors: adapter.tensors
      .filter(({ name }) => name.includes('.lora_'))
      .map(({ name, shape, values }) => ({ name, shape: shape.slice(0, 2), data: () => values })),
  });
}

/** The base file with these tensors in place of its own; everything else, tokenizer included, is copied byte by byte. */
export async function writeModel(
  file: string,
  base: string,
  tensors: readonly NamedTensor[],
  options: { signal?: AbortSignal | undefined },
): Promise<void> {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor.values]));
  const written = await copyGguf(base, file, (name) => byName.get(name) ?? null, options);
  const lost = [...byName.keys()].filter((name) => !written.has(name) && name !== 'value_head.weight');
  if (lost.length > 0) {
    throw new AppError({
      code: 'INTERNAL',
      message: `${base} has no tensors ${lost.join(', ')}; ${file} is incomplete.`,
    });
  }
}
