/** What a GGUF of the Llama architecture says about itself, and which tensors it has. Names and order are llama.cpp's. */
import type { GgufValue } from './write-gguf.ts';

export interface LlamaShape {
  layers: number;
  /** Embedding length: heads × head size. */
  dim: number;
  feedForward: number;
  heads: number;
  keyValueHeads: number;
  vocabularySize: number;
  /** Tokens. */
  contextLength: number;
  /** One matrix for embedding and unembedding. */
  tied: boolean;
}

export interface GgufVocabulary {
  tokens: readonly string[];
  scores: readonly number[];
  types: readonly number[];
  unknownId: number;
  beginId: number;
  endOfTextId: number;
  endOfTurnId: number;
}

export const normEpsilon = 1e-5;

export function llamaMetadata(
  shape: LlamaShape,
  vocabulary: GgufVocabulary,
  model: {
    name: string;
    /** 0: F32, 1: F16. */
    fileType: 0 | 1;
    chatTemplate: string | null;
    /** `general.…` keys: licence, description. */
    general?: Readonly<Record<string, string>>;
  },
): Map<string, GgufValue> {
  const number = (value: number): GgufValue => ({ type: 'uint32', value });
  const metadata = new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.name', { type: 'string', value: model.name }],
    ['general.file_type', number(model.fileType)],
    ['llama.vocab_size', number(shape.vocabularySize)],
    ['llama.context_length', number(shape.contextLength)],
    ['llama.embedding_length', number(shape.dim)],
    ['llama.block_count', number(shape.layers)],
    ['llama.feed_forward_length', number(shape.feedForward)],
    ['llama.rope.dimension_count', number(shape.dim / shape.heads)],
    ['llama.attention.head_count', number(shape.heads)],
    ['llama.attention.head_count_kv', number(shape.keyValueHeads)],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: normEpsilon }],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'strings', value: vocabulary.tokens }],
    ['tokenizer.ggml.scores', { type: 'float32s', value: vocabulary.scores }],
    ['tokenizer.ggml.token_type', { type: 'int32s', value: vocabulary.types }],
    ['tokenizer.ggml.unknown_token_id', number(vocabulary.unknownId)],
    ['tokenizer.ggml.bos_token_id', number(vocabulary.beginId)],
    ['tokenizer.ggml.eos_token_id', number(vocabulary.endOfTextId)],
    ['tokenizer.ggml.eot_token_id', number(vocabulary.endOfTurnId)],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
  ]);
  for (const [key, value] of Object.entries(model.general ?? {})) {
    metadata.set(`general.${key}`, { type: 'string', value });
  }
  if (model.chatTemplate !== null) {
    metadata.set('tokenizer.chat_template', { type: 'string', value: model.chatTemplate });
  }
  return metadata;
}

/** Shapes in GGUF order: the fastest-running dimension (a matrix's input) first. */
export function llamaTensors(shape: LlamaShape): { name: string; shape: number[] }[] {
  const { dim, feedForward, vocabularySize } = shape;
  const keyValue = (dim / shape.heads) * shape.keyValueHeads;
  const tensors = [{ name: 'token_embd.weight', shape: [dim, vocabularySize] }];
  for (let layer = 0; layer < shape.layers; layer += 1) {
    const add = (part: string, size: number[]): void => {
      tensors.push({ name: `blk.${String(layer)}.${part}.weight`, shape: size });
    };
    add('attn_norm', [dim]);
    add('attn_q', [dim, dim]);
    add('attn_k', [dim, keyValue]);
    add('attn_v', [dim, keyValue]);
    add('attn_output', [dim, dim]);
    add('ffn_norm', [dim]);
    add('ffn_gate', [dim, feedForward]);
    add('ffn_up', [dim, feedForward]);
    add('ffn_down', [feedForward, dim]);
  }
  tensors.push({ name: 'output_norm.weight', shape: [dim] });
  if (!shape.tied) tensors.push({ name: 'output.weight', shape: [dim, vocabularySize] });
  return tensors;
}
