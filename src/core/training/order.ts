/** In which order rows are seen. A pure function of the seed, so that a resumed training sees what it would have seen. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';

/** How many updates of `size` rows it takes to see each row once a pass. */
export function updatesFor(rows: number, { passes, size }: { passes: number; size: number }): number {
  return Math.ceil((rows * passes) / size);
}

interface Layout {
  size: number;
  passes: number | null;
  /** Parts of groups in a pass. */
  perPass: number;
  /** How many of them may come later than their rows alone would have it. */
  spare: number;
}

/**
 * @param groups of each row; rows of one group stand side by side in a pass and come in one batch, so that what they share is
 * computed once. Only a group that is larger than a batch is cut.
 */
export class RowOrder {
  readonly #rows: readonly (readonly number[])[];
  readonly #seed: number;
  readonly #count: number;
  #layout: Layout | null = null;
  /** The last two passes: a batch runs on from one into the next. */
  readonly #laid = new Map<number, ReadonlyMap<number, readonly number[]>>();

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
    const layout = this.#layoutOf(size, passes);
    const first = Math.min(
      Math.floor((update * size) / this.#count),
      Math.floor((update + layout.spare) / layout.perPass),
    );
    const last = Math.min(Math.ceil(((update + 1) * size) / this.#count), passes ?? Infinity);
    const batch: number[] = [];
    for (let pass = first; pass < last; pass += 1)
      batch.push(...(this.#batchesOf(pass, layout).get(update) ?? []));
    return batch;
  }

  #layoutOf(size: number, passes: number | null): Layout {
    const known = this.#layout;
    if (known?.size === size && known.passes === passes) return known;
    const perPass = this.#rows.reduce((sum, { length }) => sum + Math.ceil(length / size), 0);
    // Where whole groups leave nothing for the last updates, each of them takes one group of those before.
    const spare = passes === null ? Infinity : passes * perPass - updatesFor(this.#count, { passes, size });
    this.#laid.clear();
    return (this.#layout = { size, passes, perPass, spare });
  }

  /** The rows of a pass by their update, laid out once for all its updates. */
  #batchesOf(pass: number, { size, perPass, spare }: Layout): ReadonlyMap<number, readonly number[]> {
    const known = this.#laid.get(pass);
    if (known !== undefined) return known;
    const batches = new Map<number, number[]>();
    let at = pass * this.#count;
    let index = pass * perPass;
    const random = xoroshiro128plus((this.#seed * 1_000_003 + pass) | 0);
    for (const rows of shuffled(this.#rows, random).map((group) => shuffled(group, random))) {
      for (const part of parts(rows, size)) {
        const update = Math.max(Math.floor((at + part.length / 2) / size), index - spare);
        const batch = batches.get(update);
        if (batch === undefined) batches.set(update, [...part]);
        else batch.push(...part);
        at += part.length;
        index += 1;
      }
    }
    for (const old of [...this.#laid.keys()].slice(0, -1)) this.#laid.delete(old);
    this.#laid.set(pass, batches);
    return batches;
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
