/**
 * A small vocabulary with byte fallback, encoded exactly as llama.cpp encodes `tokenizer.ggml.model = "llama"`: a space is `▁`, each
 * character is a symbol, the neighbours whose joined text has the best score are joined until none is left (the leftmost of equals
 * first), and a character without a token becomes its UTF-8 bytes. There is no pre-tokenizer there, so the vocabulary itself keeps
 * words and numbers apart: a piece is a word, a digit, a mark, or spaces — with its leading spaces, never with spaces behind.
 * That is why `mug` is the same token in `mug 1` and in `put a mug in`, and why a text may be encoded chunk by chunk.
 */
import { z } from 'zod';

export const tokenType = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const;

/** Control tokens of the chat template: a content cannot forge them. */
export const roleTokens = { system: '<|system|>', user: '<|user|>', assistant: '<|assistant|>' } as const;
export const endToken = '<|end|>';
/** User-defined: one token wherever the text occurs. */
const tags = ['<think>', '</think>', '<action>', '</action>'] as const;

const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
const fixed: readonly { text: string; type: number }[] = [
  { text: '<unk>', type: tokenType.unknown },
  { text: '<s>', type: tokenType.control },
  { text: '</s>', type: tokenType.control },
  ...Array.from({ length: 256 }, (_, byte) => ({ text: byteToken(byte), type: tokenType.byte })),
  ...Object.values(roleTokens).map((text) => ({ text, type: tokenType.control })),
  { text: endToken, type: tokenType.control },
  ...tags.map((text) => ({ text, type: tokenType.userDefined })),
];
export const fixedTokens = fixed.length;
const unknownId = 0;
export const beginId = 1;
export const endOfTextId = 2;
const firstByteId = 3;

/** What one piece may be; `encode` relies on it. */
const pieceShape = /^(?:▁*[\p{L}\p{M}]+|▁*[^▁\p{L}\p{M}]|▁+)$/u;
const chunks = /▁*[\p{L}\p{M}]+|▁*[^▁\p{L}\p{M}]|▁+/gu;

const tokenizerFileSchema = z.object({
  format: z.literal('daydream-tokenizer'),
  version: z.literal(1),
  /** Best first. Ids go on from the fixed tokens in this order. */
  pieces: z.array(z.string().regex(pieceShape)),
});

/** The vocabulary as GGUF keeps it. */
export interface Vocabulary {
  tokens: readonly string[];
  scores: readonly number[];
  types: readonly number[];
}

export interface Tokenizer {
  readonly vocabulary: Vocabulary;
  readonly size: number;
  /** `special`: the texts of control tokens are control tokens; else they are plain text. */
  encode(text: string, options?: { special?: boolean }): number[];
  /** Control tokens are left out unless `special`. Bytes that are no UTF-8 become U+FFFD. */
  decode(ids: readonly number[], options?: { special?: boolean }): string;
  /** @throws RangeError for a text that is not a token */
  idOf(token: string): number;
  toJson(): string;
}

/** @throws ZodError, RangeError for a file that is none of ours */
export function parseTokenizer(json: string): Tokenizer {
  return createTokenizer(tokenizerFileSchema.parse(JSON.parse(json)).pieces);
}

export function createTokenizer(pieces: readonly string[]): Tokenizer {
  const vocabulary: Vocabulary = {
    tokens: [...fixed.map(({ text }) => text), ...pieces],
    scores: [...fixed.map(() => 0), ...pieces.map((_, rank) => -(rank + 1))],
    types: [...fixed.map(({ type }) => type), ...pieces.map(() => tokenType.normal)],
  };
  const ids = new Map(vocabulary.tokens.map((token, id) => [token, id]));
  if (ids.size !== vocabulary.tokens.length) throw new RangeError('A token occurs twice in the vocabulary.');
  if (ids.size > 0xffff) throw new RangeError('Token ids must fit 16 bits.');
  const ranks = new Map(pieces.map((piece, rank) => [piece, rank]));
  const known = new Map<string, readonly number[]>();
  const textOf = (type: number): string[] =>
    fixed.filter((token) => token.type === type).map(({ text }) => text);
  const always = matcher(textOf(tokenType.userDefined));
  const withControl = matcher([...textOf(tokenType.userDefined), ...textOf(tokenType.control), '<unk>']);

  const encodeChunk = (chunk: string): readonly number[] => {
    const before = known.get(chunk);
    if (before !== undefined) return before;
    const symbols = join([...chunk], ranks);
    const made = symbols.flatMap((symbol) => {
      const rank = ranks.get(symbol);
      if (rank !== undefined) return fixed.length + rank;
      return [...new TextEncoder().encode(symbol)].map((byte) => firstByteId + byte);
    });
    if (chunk.length <= 64 && known.size < 100_000) known.set(chunk, made);
    return made;
  };

  const encodePlain = (text: string, into: number[]): void => {
    for (const [chunk] of text.replaceAll(' ', '▁').matchAll(chunks)) {
      for (const id of encodeChunk(chunk)) into.push(id);
    }
  };

  return {
    vocabulary,
    size: vocabulary.tokens.length,
    encode(text, { special = false } = {}) {
      const result: number[] = [];
      let at = 0;
      for (const match of text.matchAll(special ? withControl : always)) {
        encodePlain(text.slice(at, match.index), result);
        result.push(ids.get(match[0]) ?? unknownId);
        at = match.index + match[0].length;
      }
      encodePlain(text.slice(at), result);
      return result;
    },
    decode(list, { special = false } = {}) {
      const bytes: number[] = [];
      for (const id of list) {
        const type = vocabulary.types[id];
        if (type === undefined) throw new RangeError(`There is no token ${String(id)}.`);
        if (type === tokenType.byte) bytes.push(id - firstByteId);
        else if (special || (type !== tokenType.control && type !== tokenType.unknown)) {
          const text = vocabulary.tokens[id] ?? '';
          const shown = type === tokenType.normal ? text.replaceAll('▁', ' ') : text;
          for (const byte of new TextEncoder().encode(shown)) bytes.push(byte);
        }
      }
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
    },
    idOf(token) {
      const id = ids.get(token);
      if (id === undefined) throw new RangeError(`${JSON.stringify(token)} is no token of this vocabulary.`);
      return id;
    },
    toJson() {
      const file: z.input<typeof tokenizerFileSchema> = {
        format: 'daydream-tokenizer',
        version: 1,
        pieces: [...pieces],
      };
      return `${JSON.stringify(file)}\n`;
    },
  };
}

/** Joins neighbours, best rank first; of equals the leftmost. Changes and returns `symbols`. */
function join(symbols: string[], ranks: ReadonlyMap<string, number>): string[] {
  for (;;) {
    let best = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let index = 0; index + 1 < symbols.length; index += 1) {
      const rank = ranks.get(`${symbols[index] ?? ''}${symbols[index + 1] ?? ''}`);
      if (rank !== undefined && rank < best) {
        best = rank;
        at = index;
      }
    }
    if (at === -1) return symbols;
    symbols.splice(at, 2, `${symbols[at] ?? ''}${symbols[at + 1] ?? ''}`);
  }
}

function matcher(texts: readonly string[]): RegExp {
  return new RegExp(texts.map((text) => text.replace(/[|/\\]/gu, '\\$&')).join('|'), 'gu');
}
