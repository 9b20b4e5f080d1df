/**
 * A tiny Llama with random weights: nothing is learned, everything else is real. It runs the whole path (tokenizer, chat
 * template, KV cache, grammars, adapters) where no pre-trained model is at hand, and says so in its name and metadata.
 */
import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { writeGguf } from './gguf/write-gguf.ts';
import type { GgufTensor, GgufValue } from './gguf/write-gguf.ts';

export interface RandomGgufOptions {
  seed: number;
  /** Words with a token of their own; every other text falls back to characters and bytes. */
  words?: readonly string[];
  layers?: number;
  /** A multiple of 64. */
  dim?: number;
  contextLength?: number;
  /** Without one the model counts as a base model: completion format. */
  chatTemplate?: boolean;
}

const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const defaultWords = (
  'the a to go take from put in on open close use clean heat cool with look inventory examine you are is see nothing ' +
  'cabinet drawer desk shelf fridge sink basin counter top table lamp bed chair toilet garbage can microwave stove burner ' +
  'coffee machine mug plate bowl apple bread egg potato tomato knife fork spoon pan pot cup soap bar bottle cloth towel ' +
  'book pen pencil key card clock watch phone pillow box statue vase candle newspaper think action task your some find ' +
  'it and of then next need should where first now there here at already current state observation goal done clear'
).split(' ');

/** Deterministic: the same options give the same bytes. The file name must begin with `random-weights-`. */
export function writeRandomGguf(file: string, options: RandomGgufOptions): void {
  if (!basename(file).startsWith('random-weights-') || !file.endsWith('.gguf')) {
    throw new RangeError(
      'A random-weight model is named random-weights-….gguf so that nobody takes it for a real one.',
    );
  }
  const layers = options.layers ?? 2;
  const dim = options.dim ?? 64;
  const vocabulary = buildVocabulary(options.words ?? defaultWords);
  const metadata = modelMetadata(vocabulary, {
    layers,
    dim,
    contextLength: options.contextLength ?? 4096,
    name: `random weights, seed ${options.seed}`,
    template: options.chatTemplate ?? true,
  });
  mkdirSync(dirname(file), { recursive: true });
  writeGguf(file, { metadata, tensors: modelTensors(options.seed, vocabulary.tokens.length, layers, dim) });
}

interface Vocabulary {
  tokens: string[];
  scores: number[];
  types: number[];
}

const tokenType = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

/** SentencePiece-style with byte fallback: words grow from their prefixes by merges, `▁` stands for the space. */
function buildVocabulary(words: readonly string[]): Vocabulary {
  const vocabulary: Vocabulary = { tokens: [], scores: [], types: [] };
  const seen = new Set<string>();
  const add = (token: string, type: number, score: number): void => {
    if (seen.has(token)) return;
    seen.add(token);
    vocabulary.tokens.push(token);
    vocabulary.types.push(type);
    vocabulary.scores.push(score);
  };
  add('<unk>', tokenType.unknown, 0);
  add('<s>', tokenType.control, 0);
  add('</s>', tokenType.control, 0);
  for (let byte = 0; byte < 256; byte += 1) {
    add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, tokenType.byte, 0);
  }
  add('<|im_start|>', tokenType.control, 0);
  add('<|im_end|>', tokenType.control, 0);
  add('▁', tokenType.normal, -1000);
  for (let code = 33; code < 127; code += 1) add(String.fromCharCode(code), tokenType.normal, -1000);
  // A longer piece scores higher, so that merging prefers whole words to their beginnings.
  for (const word of words) {
    for (const piece of [word, `▁${word}`]) {
      for (let length = 2; length <= piece.length; length += 1) {
        add(piece.slice(0, length), tokenType.normal, length - 500);
      }
    }
  }
  return vocabulary;
}

const headSize = 32;

function modelMetadata(
  vocabulary: Vocabulary,
  model: { layers: number; dim: number; contextLength: number; name: string; template: boolean },
): Map<string, GgufValue> {
  const metadata = new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['general.name', { type: 'string', value: model.name }],
    ['general.file_type', { type: 'uint32', value: 0 }],
    ['llama.vocab_size', { type: 'uint32', value: vocabulary.tokens.length }],
    ['llama.context_length', { type: 'uint32', value: model.contextLength }],
    ['llama.embedding_length', { type: 'uint32', value: model.dim }],
    ['llama.block_count', { type: 'uint32', value: model.layers }],
    ['llama.feed_forward_length', { type: 'uint32', value: model.dim * 2 }],
    ['llama.rope.dimension_count', { type: 'uint32', value: headSize }],
    ['llama.attention.head_count', { type: 'uint32', value: model.dim / headSize }],
    ['llama.attention.head_count_kv', { type: 'uint32', value: model.dim / headSize }],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'strings', value: vocabulary.tokens }],
    ['tokenizer.ggml.scores', { type: 'float32s', value: vocabulary.scores }],
    ['tokenizer.ggml.token_type', { type: 'int32s', value: vocabulary.types }],
    ['tokenizer.ggml.unknown_token_id', { type: 'uint32', value: 0 }],
    ['tokenizer.ggml.bos_token_id', { type: 'uint32', value: 1 }],
    ['tokenizer.ggml.eos_token_id', { type: 'uint32', value: 2 }],
    ['tokenizer.ggml.eot_token_id', { type: 'uint32', value: vocabulary.tokens.indexOf('<|im_end|>') }],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
  ]);
  if (model.template) metadata.set('tokenizer.chat_template', { type: 'string', value: chatTemplate });
  return metadata;
}

function modelTensors(seed: number, vocabularySize: number, layers: number, dim: number): GgufTensor[] {
  const random = gaussian(seed);
  const normal = (name: string, shape: readonly number[], deviation: number): GgufTensor => ({
    name,
    shape,
    data: () => Float32Array.from({ length: product(shape) }, () => random() * deviation),
  });
  const ones = (name: string): GgufTensor => ({
    name,
    shape: [dim],
    data: () => new Float32Array(dim).fill(1),
  });
  const spread = 1 / Math.sqrt(dim);
  const tensors: GgufTensor[] = [normal('token_embd.weight', [dim, vocabularySize], 1)];
  for (let layer = 0; layer < layers; layer += 1) {
    const name = (part: string): string => `blk.${layer}.${part}.weight`;
    tensors.push(
      ones(name('attn_norm')),
      // Queries and keys are wide so that attention is peaked: what was said earlier changes what comes next.
      normal(name('attn_q'), [dim, dim], spread * 2),
      normal(name('attn_k'), [dim, dim], spread * 2),
      normal(name('attn_v'), [dim, dim], spread * 2),
      normal(name('attn_output'), [dim, dim], spread * 2),
      ones(name('ffn_norm')),
      normal(name('ffn_gate'), [dim, dim * 2], spread),
      normal(name('ffn_up'), [dim, dim * 2], spread),
      normal(name('ffn_down'), [dim * 2, dim], spread),
    );
  }
  tensors.push(ones('output_norm.weight'), normal('output.weight', [dim, vocabularySize], spread * 2));
  return tensors;
}

/** Box–Muller on a seeded generator: the same numbers on every platform up to Math.log's last bit. */
function gaussian(seed: number): () => number {
  const generator = xoroshiro128plus(seed);
  return () => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(generator)));
    return radius * Math.cos(2 * Math.PI * uniformFloat64(generator));
  };
}

function product(shape: readonly number[]): number {
  return shape.reduce((total, size) => total * size, 1);
}
