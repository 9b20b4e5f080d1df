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
