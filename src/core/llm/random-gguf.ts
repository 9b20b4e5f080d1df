/**
 * A tiny Llama with random weights: nothing is learned, everything else is real. It runs the whole path (tokenizer, chat
 * template, KV cache, grammars, adapters) where no pre-trained model is at hand, and says so in its name and metadata.
 */
import { basename, dirname } from 'node:path';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { llamaMetadata, llamaTensors } from './gguf/llama.ts';
import type { LlamaShape } from './gguf/llama.ts';
import { makeFolder } from '#core/make-folder.ts';
import { writeGguf } from './gguf/write-gguf.ts';
import type { GgufTensor } from './gguf/write-gguf.ts';

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
  const shape: LlamaShape = {
    layers,
    dim,
    feedForward: dim * 2,
    heads: dim / headSize,
    keyValueHeads: dim / headSize,
    vocabularySize: vocabulary.tokens.length,
    contextLength: options.contextLength ?? 4096,
    tied: false,
  };
  const ids = {
    unknownId: 0,
    beginId: 1,
    endOfTextId: 2,
    endOfTurnId: vocabulary.tokens.indexOf('<|im_end|>'),
  };
  const metadata = llamaMetadata(
    shape,
    { ...vocabulary, ...ids },
    {
      name: `random weights, seed ${options.seed}`,
      fileType: 0,
      chatTemplate: (options.chatTemplate ?? true) ? chatTemplate : null,
    },
  );
  makeFolder(dirname(file));
  writeGguf(file, { metadata, tensors: modelTensors(options.seed, shape) });
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

/** Queries and keys are wide so that attention is peaked: what was said earlier changes what comes next. */
const spreadOf = (part: string): number => (part.startsWith('ffn') ? 1 : 2);

function modelTensors(seed: number, shape: LlamaShape): GgufTensor[] {
  const random = gaussian(seed);
  return llamaTensors(shape).map(({ name, shape: size }) => {
    const part = name.split('.').at(-2) ?? '';
    const deviation = part === 'token_embd' ? 1 : spreadOf(part) / Math.sqrt(shape.dim);
    const draw = size.length === 1 ? () => 1 : () => random() * deviation;
    return { name, shape: size, data: () => Float32Array.from({ length: product(size) }, draw) };
  });
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
