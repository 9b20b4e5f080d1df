/** In which order rows are seen. A pure function of the seed, so that a resumed training sees what it would have seen. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** How many updates of `size` rows it takes to see each row once a pass. */
export function updatesFor(rows: number, { passes, size }: { passes: number; size: number }): number {
  return Math.ceil((rows * passes) / size);
}

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
   *
   * @param passes after which there are no more rows: the last of `updatesFor` has those that are left; null: it goes on for ever
   */
  batch(update: number, size: number, passes: number | null = null): number[] {
    const perPass = this.#rows.reduce((sum, { length }) => sum + Math.ceil(length / size), 0);
    // Where whole groups leave nothing for the last updates, each of them takes one group of those before.
    const spare = passes === null ? Infinity : passes * perPass - updatesFor(this.#count, { passes, size });
    const first = Math.min(Math.floor((update * size) / this.#count), Math.floor((update + spare) / perPass));
    const last = Math.min(Math.ceil(((update + 1) * size) / this.#count), passes ?? Infinity);
    const batch: number[] = [];
    for (let pass = first; pass < last; pass += 1) {
      let at = pass * this.#count;
      let index = pass * perPass;
      for (const rows of this.#of(pass)) {
        for (const part of parts(rows, size)) {
          const own = Math.max(Math.floor((at + part.length / 2) / size), index - spare);
          if (own === update) batch.push(...part);
          at += part.length;
          index += 1;
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
