/**
 * Randomness as an input: a generator is named by what it is for, so the same state draws the same alternatives whatever
 * ran before it or beside it.
 */
import { createHash } from 'node:crypto';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { canonicalJson } from '#core/agents/hash.ts';

export interface Random {
  /** Uniform over the integers from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** Fisher–Yates; a new array. */
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** A 31-bit seed made from the parts. */
export function seedOf(...parts: readonly unknown[]): number {
  return createHash('sha256').update(canonicalJson(parts)).digest().readUInt32BE(0) & 0x7fffffff;
}

export function randomOf(...parts: readonly unknown[]): Random {
  const generator = xoroshiro128plus(seedOf(...parts));
  const integer = (low: number, high: number): number => uniformInt(generator, low, high);
  return {
    integer,
    shuffled(items) {
      const result = [...items];
      for (let last = result.length - 1; last > 0; last -= 1) {
        const other = integer(0, last);
        const swap = result[last];
        const chosen = result[other];
        if (swap === undefined || chosen === undefined) continue;
        result[last] = chosen;
        result[other] = swap;
      }
      return result;
    },
  };
}
