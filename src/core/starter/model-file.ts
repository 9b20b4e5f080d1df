/** The starter model as a GGUF file: weights by llama.cpp's names, the trained vocabulary, the chat format, name and licence. */
import { llamaMetadata, llamaTensors, writeGguf } from '#core/llm/index.ts';
import type { LlamaShape } from '#core/llm/index.ts';
import { chatTemplate } from '#core/starter/chat-format.ts';
import { beginId, endOfTextId, endToken } from '#core/starter/tokenizer.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';

export type StarterShape = Omit<LlamaShape, 'vocabularySize'>;

export interface StarterFile {
  name: string;
  description: string;
  shape: StarterShape;
  tokenizer: Tokenizer;
  /** Of the matrices; norms are always F32. */
  type: 'F32' | 'F16';
  /** [product of `shape`] values of the tensor, its fastest-running dimension first. */
  weights: (name: string, shape: readonly number[]) => Float32Array;
}

/** Atomic. @throws RangeError when a weight has the wrong number of values */
export function writeStarterGguf(file: string, model: StarterFile): void {
  const { tokenizer, type } = model;
  const shape: LlamaShape = { ...model.shape, vocabularySize: tokenizer.size };
  const vocabulary = {
    ...tokenizer.vocabulary,
    unknownId: 0,
    beginId,
    endOfTextId,
    endOfTurnId: tokenizer.idOf(endToken),
  };
  writeGguf(file, {
    metadata: llamaMetadata(shape, vocabulary, {
      name: model.name,
      fileType: type === 'F16' ? 1 : 0,
      chatTemplate,
      general: { license: 'apache-2.0', description: model.description },
    }),
    tensors: llamaTensors(shape).map(({ name, shape: size }) => ({
      name,
      shape: size,
      type: size.length === 1 ? 'F32' : type,
      data: () => model.weights(name, size),
    })),
  });
}
