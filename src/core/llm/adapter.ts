/** A LoRA adapter must be one, and belong to the model's architecture: llama.cpp would only say that it failed. */
import { AppError } from '#shared/errors.ts';
import { textOf } from './gguf/facts.ts';
import { readGguf } from './gguf/read-gguf.ts';

export function checkAdapter(path: string, architecture: string): void {
  const { metadata } = readGguf(path);
  const kind = textOf(metadata.get('general.type'));
  if (kind !== 'adapter') {
    throw new AppError({
      code: 'MODEL_FILE_INVALID',
      message: `${path} is no adapter (general.type is ${kind ?? 'missing'}). A LoRA adapter in GGUF form is needed.`,
      data: { file: path },
    });
  }
  const own = textOf(metadata.get('general.architecture'));
  if (own === architecture) return;
  throw new AppError({
    code: 'MODEL_UNSUPPORTED',
    message: `The adapter ${path} was made for the architecture ${own ?? 'unknown'}, the model is ${architecture}. They do not fit together.`,
    data: { file: path, architecture },
  });
}
