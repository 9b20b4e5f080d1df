/** A LoRA adapter must be one, and belong to the model's architecture and tokenizer: llama.cpp would only say that it failed. */
import { AppError } from '#shared/errors.ts';
import { textOf } from './gguf/facts.ts';
import { readGguf } from './gguf/read-gguf.ts';
import type { GgufHeader } from './gguf/read-gguf.ts';
import { tokenizerKey, tokenizerPrint } from './gguf/tokenizer-print.ts';

/**
 * @param base the file of the model that it is to sit on
 * @returns the header of the adapter
 * @throws FILE_NOT_FOUND, MODEL_FILE_INVALID, MODEL_UNSUPPORTED
 */
export function checkAdapter(path: string, base: { file: string; header?: GgufHeader }): GgufHeader {
  const adapter = readGguf(path);
  const { metadata } = adapter;
  const kind = textOf(metadata.get('general.type'));
  if (kind !== 'adapter') {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message: `${path} is no adapter (general.type is ${kind ?? 'missing'}). A LoRA adapter in GGUF form is needed.`,
      data: { file: path },
    });
  }
  const header = base.header ?? readGguf(base.file);
  const architecture = textOf(header.metadata.get('general.architecture')) ?? 'unknown';
  const own = textOf(metadata.get('general.architecture'));
  if (own !== architecture) {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message: `The adapter ${path} was made for the architecture ${own ?? 'unknown'}, the model is ${architecture}. They do not fit together.`,
      data: { file: path, architecture },
    });
  }
  const print = textOf(metadata.get(tokenizerKey));
  if (print !== null && print !== tokenizerPrint(base.file, header)) {
    throw new AppError({
      code: 'MODEL_UNSUPPORTED',
      message:
        `The adapter ${path} was trained with another tokenizer than that of ${base.file}: the same numbers mean other tokens there. ` +
        'Nothing was changed. Choose the base that it was trained on, or a model with the very same tokens.',
      data: { file: path, base: base.file },
    });
  }
  return adapter;
}

/** As `checkAdapter`, and every matrix has the size that llama.cpp asks for. @throws the same */
export function checkAdapterFits(path: string, base: { file: string; header: GgufHeader }): void {
  const misfit = misfitOf(checkAdapter(path, base), base.header);
  if (misfit === null) return;
  throw new AppError({
    code: 'MODEL_UNSUPPORTED',
    message: `The adapter ${path} does not fit ${base.file}: ${misfit}. Nothing was changed. Choose the base that it was trained on.`,
    data: { file: path, base: base.file },
  });
}

/**
 * The first matrix pair that llama.cpp would refuse: A is [in, rank], B is [rank, out] of a matrix [in, out] of the model; those of the token
 * embedding are the other way round.
 */
function misfitOf(adapter: GgufHeader, base: GgufHeader): string | null {
  const shapes = new Map(base.tensors.map(({ name, shape }) => [name, shape]));
  const pairs = new Map(adapter.tensors.map(({ name, shape }) => [name, shape]));
  for (const { name, shape: a } of adapter.tensors) {
    const matrix = /^(.+)\.lora_a$/u.exec(name)?.[1];
    if (matrix === undefined) continue;
    const target = shapes.get(matrix);
    if (target === undefined) return `the model has no matrix ${matrix}`;
    const b = pairs.get(`${matrix}.lora_b`);
    if (b === undefined) return `${name} stands there without ${matrix}.lora_b`;
    const isEmbedding = matrix === 'token_embd.weight';
    const made = isEmbedding ? [sizeOf(b, 1), sizeOf(a, 1)] : [sizeOf(a, 0), sizeOf(b, 1)];
    if (made[0] !== sizeOf(target, 0) || made[1] !== sizeOf(target, 1)) {
      return `it changes ${matrix} as a matrix of ${made.join(' × ')}, which is ${String(sizeOf(target, 0))} × ${String(sizeOf(target, 1))} in the model`;
    }
  }
  return null;
}

/** A file leaves out the last dimensions where they are 1. */
function sizeOf(shape: readonly number[], dimension: number): number {
  return shape[dimension] ?? 1;
}
