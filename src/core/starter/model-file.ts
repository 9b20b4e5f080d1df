/** The starter model as a GGUF file: weights by llama.cpp's names, the trained vocabulary, the chat format, name and licence. */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
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

/**
 * Weights before any training: norms 1, embeddings N(0, 0.02²), matrices N(0, 1/inputs), those that write into the residual stream
 * smaller by √(2·layers) (GPT-2's rule). Each tensor has a stream of its own, so the same seed gives the same tensor in any order.
 */
export function initialWeights(seed: number, layers: number): StarterFile['weights'] {
  return (name, shape) => {
    const [inputs = 1, outputs] = shape;
    if (outputs === undefined) return new Float32Array(inputs).fill(1);
    const residual = /attn_output|ffn_down/u.test(name) ? 1 / Math.sqrt(2 * layers) : 1;
    const deviation = name.startsWith('token_embd') ? 0.02 : residual / Math.sqrt(inputs);
    const generator = xoroshiro128plus(nameSeed(seed, name));
    const draw = (): number => {
      const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(generator)));
      return deviation * radius * Math.cos(2 * Math.PI * uniformFloat64(generator));
    };
    return Float32Array.from({ length: inputs * outputs }, draw);
  };
}

function nameSeed(seed: number, name: string): number {
  let mixed = seed;
  for (let index = 0; index < name.length; index += 1)
    mixed = Math.imul(mixed ^ name.charCodeAt(index), 0x01000193);
  return mixed >>> 0;
}
