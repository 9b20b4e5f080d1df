/** In which order rows are seen. A pure function of the seed, so that a resumed training sees what it would have seen. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** @param groups of each row; rows of one group stand side by side in a pass, so that what they share is computed once */
export class RowOrder {
  readonly #rows: readonly (readonly number[])[];
  readonly #seed: number;
  readonly #count: number;
  #pass = -1;
  #order: readonly number[] = [];

  constructor(groups: readonly string[], seed: number) {
    const byGroup = new Map<string, number[]>();
    groups.forEach((group, index) => {
      const rows = byGroup.get(group);
      if (rows === undefined) byGroup.set(group, [index]);
      else rows.push(index);
    });
    this.#rows = [...byGroup.values()];
    this.#seed = seed;
    this.#count = groups.length;
  }

  /** The rows of update `update` (from 0): batches run on from one pass into the next. */
  batch(update: number, size: number): number[] {
    const batch: number[] = [];
    for (let at = update * size; at < (update + 1) * size; at += 1) {
      const row = this.#of(Math.floor(at / this.#count))[at % this.#count];
      if (row !== undefined) batch.push(row);
    }
    return batch;
  }

  #of(pass: number): readonly number[] {
    if (pass !== this.#pass) {
      const random = xoroshiro128plus((this.#seed * 1_000_003 + pass) | 0);
      this.#order = shuffled(this.#rows, random).flatMap((rows) => shuffled(rows, random));
      this.#pass = pass;
    }
    return this.#order;
  }
}

/** Fisher–Yates. */
function shuffled<Item>(items: readonly Item[], random: RandomGenerator): Item[] {
  const result = [...items];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = uniformInt(random, 0, at);
    const [a, b] = [result[at], result[other]];
    if (a !== undefined && b !== undefined) [result[at], result[other]] = [b, a];
  }
  return result;
}
