/** In which order rows are seen. A pure function of the seed, so that a resumed training sees what it would have seen. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/**
 * Rows of one pass: states in random order, the rows of a state side by side (the alternatives of one state share their
 * prompt, and then its computation), in random order among themselves.
 */
export function passOrder(states: readonly string[], seed: number, pass: number): number[] {
  const random = xoroshiro128plus((seed * 1_000_003 + pass) | 0);
  const groups = new Map<string, number[]>();
  states.forEach((state, index) => {
    const group = groups.get(state);
    if (group === undefined) groups.set(state, [index]);
    else group.push(index);
  });
  const shuffle = <Item>(items: Item[]): Item[] => {
    for (let at = items.length - 1; at > 0; at -= 1) {
      const other = uniformInt(random, 0, at);
      const [a, b] = [items[at], items[other]];
      if (a !== undefined && b !== undefined) [items[at], items[other]] = [b, a];
    }
    return items;
  };
  return shuffle([...groups.values()]).flatMap((group) => shuffle(group));
}

/** The rows of update `update` (from 0) of a stage: batches run on from one pass into the next. */
export function batchAt(
  states: readonly string[],
  seed: number,
  update: number,
  batchRows: number,
): number[] {
  const batch: number[] = [];
  const first = update * batchRows;
  let pass = -1;
  let order: number[] = [];
  for (let at = first; at < first + batchRows; at += 1) {
    const own = Math.floor(at / states.length);
    if (own !== pass) {
      pass = own;
      order = passOrder(states, seed, pass);
    }
    const row = order[at % states.length];
    if (row !== undefined) batch.push(row);
  }
  return batch;
}
