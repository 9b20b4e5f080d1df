/** In which order rows are seen. A pure function of the seed, so that a resumed training sees what it would have seen. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/**
 * @param groups of each row; rows of one group stand side by side in a pass and come in one batch, so that what they share is
 * computed once. Only a group that is larger than a batch is cut.
 */
export class RowOrder {
  readonly #rows: readonly (readonly number[])[];
  readonly #seed: number;
  readonly #count: number;
  #pass = -1;
  #order: readonly (readonly number[])[] = [];

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

  /**
   * The rows of update `update` (from 0): the groups whose middle lies in the rows update · size … of all passes in a row. So a
   * batch has `size` rows on average, none is empty, and batches run on from one pass into the next.
   */
  batch(update: number, size: number): number[] {
    const [from, to] = [update * size, (update + 1) * size];
    const batch: number[] = [];
    for (let pass = Math.floor(from / this.#count); pass * this.#count < to; pass += 1) {
      let at = pass * this.#count;
      for (const rows of this.#of(pass)) {
        for (const part of parts(rows, size)) {
          const middle = at + part.length / 2;
          if (middle >= from && middle < to) batch.push(...part);
          at += part.length;
        }
      }
    }
    return batch;
  }

  /** Groups in the order of a pass. */
  #of(pass: number): readonly (readonly number[])[] {
    if (pass !== this.#pass) {
      const random = xoroshiro128plus((this.#seed * 1_000_003 + pass) | 0);
      this.#order = shuffled(this.#rows, random).map((rows) => shuffled(rows, random));
      this.#pass = pass;
    }
    return this.#order;
  }
}

/** As few parts of at most `size` as there can be, as equal as they can be. */
function parts(rows: readonly number[], size: number): (readonly number[])[] {
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, part) =>
    rows.slice(Math.round((part * rows.length) / count), Math.round(((part + 1) * rows.length) / count)),
  );
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
