/** Seeded choices for the generated texts. A document's choices follow from (seed, purpose, number) alone. */
import { randomOf } from '#core/agents/index.ts';
import type { Random } from '#core/random.ts';

export interface Draw extends Pick<Random, 'integer' | 'chance' | 'pick'> {
  /** Different items, in random order; all of them when there are fewer. */
  some<Item>(items: readonly Item[], count: number): Item[];
}

export function drawOf(...parts: readonly unknown[]): Draw {
  const { integer, chance, pick, shuffled } = randomOf(...parts);
  return { integer, chance, pick, some: (items, count) => shuffled(items).slice(0, count) };
}
