/** Uniform choices from one seeded generator (xoroshiro128+). What a seed is made of is its caller's; the draws are these. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

export interface Random {
  /** Uniform over the integers from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<Item>(items: readonly Item[]): Item;
  /** Fisher–Yates; a new array. */
  shuffled<Item>(items: readonly Item[]): Item[];
}

export function randomFrom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const integer = (low: number, high: number): number => uniformInt(generator, low, high);
  return {
    integer,
    chance: (probability) => integer(0, 999_999) < probability * 1_000_000,
    pick(items) {
      const item = items[integer(0, Math.max(0, items.length - 1))];
      if (item === undefined) throw new RangeError('There is nothing to pick from.');
      return item;
    },
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
