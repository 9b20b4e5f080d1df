/** Seeded choices for the generator. A seed is the hash of a name, so each room and task has its own stream. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

export interface Random {
  /** An integer from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
}

export function randomOf(name: string): Random {
  const generator = xoroshiro128plus(hash32(name));
  const integer = (low: number, high: number): number => uniformInt(generator, low, high);
  return {
    integer,
    chance: (probability) => integer(0, 999_999) < probability * 1_000_000,
    pick(items) {
      const item = items[integer(0, Math.max(0, items.length - 1))];
      if (item === undefined) throw new RangeError('cannot pick from an empty list');
      return item;
    },
    shuffled(items) {
      const keyed = items.map((item) => ({ item, key: integer(0, 0x7fffffff) }));
      return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}

/** FNV-1a with a final mix: spreads near-equal names over the whole range. Not for secrets. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
