/** Seeded choices for the generated texts. A document's choices follow from (seed, purpose, number) alone. */
import { randomOf } from '#core/agents/index.ts';

export interface Draw {
  /** Both ends included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<Item>(items: readonly Item[]): Item;
  /** Different items, in random order; all of them when there are fewer. */
  some<Item>(items: readonly Item[], count: number): Item[];
}

export function drawOf(...parts: readonly unknown[]): Draw {
  const random = randomOf(...parts);
  return {
    integer: random.integer,
    chance: (probability) => random.integer(0, 999_999) < probability * 1_000_000,
    pick(items) {
      const item = items[random.integer(0, Math.max(0, items.length - 1))];
      if (item === undefined) throw new RangeError('There is nothing to pick from.');
      return item;
    },
    some: (items, count) => random.shuffled(items).slice(0, count),
  };
}
