/** Seeded choices for the generator. A seed is the hash of a name, so each room and task has its own stream. */
import { randomFrom } from '#core/random.ts';
import type { Random } from '#core/random.ts';

/** Shuffles by random keys, which the generator's versions are made with; another way would be other rooms and tasks. */
export function randomOf(name: string): Random {
  const random = randomFrom(hash32(name));
  return {
    ...random,
    shuffled(items) {
      const keyed = items.map((item) => ({ item, key: random.integer(0, 0x7fffffff) }));
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
