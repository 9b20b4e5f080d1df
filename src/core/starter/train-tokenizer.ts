/**
 * Byte-pair encoding (Sennrich et al. 2016): from single characters on, the most frequent pair of neighbours becomes a piece, until
 * the vocabulary is full. Pairs are counted inside words, digits and marks only. Deterministic: of equal counts the pair that sorts
 * first wins. Docs: docs/adr/0050.
 */
import { createTokenizer, fixedTokens } from '#core/starter/tokenizer.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';

export interface TokenizerTraining {
  /** All tokens: control, bytes, characters and joined pieces. */
  vocabularySize: number;
  /** Characters beyond printable ASCII get a token when they occur this often; else they are bytes. */
  minimumCharacterCount: number;
}

const words = /▁?[\p{L}\p{M}]+|▁?\p{N}|▁?[^▁\p{L}\p{M}\p{N}]/gu;

interface Word {
  symbols: string[];
  count: number;
}

/** @throws RangeError when the corpus has too little variety for the size */
export function trainTokenizer(texts: Iterable<string>, training: TokenizerTraining): Tokenizer {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.replaceAll(' ', '▁').matchAll(words)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const alphabet = alphabetOf(counts, training.minimumCharacterCount);
  const corpus: Word[] = [...counts]
    .filter(([word]) => [...word].every((character) => alphabet.has(character)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([word, count]) => ({ symbols: [...word], count }));
  const pairs = new PairCounts(corpus);
  const joined: string[] = [];
  while (fixedTokens + alphabet.size + joined.length < training.vocabularySize) {
    const pair = pairs.best();
    if (pair === null) {
      throw new RangeError(
        `The corpus gives only ${String(fixedTokens + alphabet.size + joined.length)} tokens, ${String(training.vocabularySize)} were asked for. Give more text or a smaller vocabulary.`,
      );
    }
    pairs.join(pair);
    if (!joined.includes(pair[0] + pair[1])) joined.push(pair[0] + pair[1]);
  }
  // Single characters are never the result of a join, so their rank does not matter: they come last.
  return createTokenizer([...joined, ...[...alphabet].toSorted()]);
}

/** Printable ASCII, `▁`, and what the corpus uses often. A new line stays a byte, as llama.cpp expects. */
function alphabetOf(counts: ReadonlyMap<string, number>, minimum: number): Set<string> {
  const characters = new Map<string, number>();
  for (const [word, count] of counts) {
    for (const character of word) characters.set(character, (characters.get(character) ?? 0) + count);
  }
  const alphabet = new Set(['▁']);
  for (let code = 33; code < 127; code += 1) alphabet.add(String.fromCharCode(code));
  for (const [character, count] of characters) {
    if (count >= minimum && !/\p{C}/u.test(character)) alphabet.add(character);
  }
  return alphabet;
}

type Pair = readonly [left: string, right: string];

/** Counts of neighbouring pairs, kept right while pairs are joined. */
class PairCounts {
  readonly #corpus: readonly Word[];
  readonly #counts = new Map<string, number>();
  /** [pair] → words in which it was seen; a word may have lost it since. */
  readonly #places = new Map<string, Set<number>>();

  constructor(corpus: readonly Word[]) {
    this.#corpus = corpus;
    for (const index of corpus.keys()) this.#add(index, 1);
  }

  best(): Pair | null {
    let best: string | null = null;
    let most = 1;
    for (const [key, count] of this.#counts) {
      if (count > most || (count === most && best !== null && key < best)) {
        best = key;
        most = count;
      }
    }
    if (best === null) return null;
    const at = best.indexOf('\n');
    return [best.slice(0, at), best.slice(at + 1)];
  }

  join([left, right]: Pair): void {
    const key = `${left}\n${right}`;
    for (const index of this.#places.get(key) ?? []) {
      const word = this.#corpus[index];
      if (word === undefined) continue;
      this.#add(index, -1);
      const symbols: string[] = [];
      for (const symbol of word.symbols) {
        if (symbol === right && symbols.at(-1) === left) symbols[symbols.length - 1] = left + right;
        else symbols.push(symbol);
      }
      word.symbols = symbols;
      this.#add(index, 1);
    }
    this.#places.delete(key);
  }

  #add(index: number, sign: 1 | -1): void {
    const word = this.#corpus[index];
    if (word === undefined) return;
    for (let at = 0; at + 1 < word.symbols.length; at += 1) {
      const key = `${word.symbols[at] ?? ''}\n${word.symbols[at + 1] ?? ''}`;
      const count = (this.#counts.get(key) ?? 0) + sign * word.count;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
      if (sign === -1) continue;
      const places = this.#places.get(key);
      if (places === undefined) this.#places.set(key, new Set([index]));
      else places.add(index);
    }
  }
}
