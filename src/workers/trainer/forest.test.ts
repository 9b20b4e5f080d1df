import { expect, it } from 'vitest';
import { planForest } from './forest.ts';

const options = { longestBlock: 64, cost: (length: number) => length };

it('computes nothing after a row’s last target, and the target itself neither', () => {
  const rows = [
    { tokens: Int32Array.of(1, 2, 3, 4), targets: Int32Array.of(3) },
    { tokens: Int32Array.of(1, 2, 5, 6, 7, 8), targets: Int32Array.of(2, 4) },
  ];
  const { blocks, flatTokens, forestTokens } = planForest(rows, options);
  expect({ flatTokens, forestTokens }).toEqual({ flatTokens: 7, forestTokens: 5 });
  expect(blocks.map(({ ids }) => ids)).toEqual([[1, 2, 3, 5, 6]]);
  const [block] = blocks;
  // [the token before, the token predicted]
  expect(block?.cells.map(({ node, token }) => [block.ids[node], token])).toEqual([
    [3, 4],
    [2, 5],
    [6, 7],
  ]);
});

it('shares the last token of a row where another row goes on', () => {
  const rows = [
    { tokens: Int32Array.of(1, 2), targets: Int32Array.of(1) },
    { tokens: Int32Array.of(1, 2, 3), targets: Int32Array.of(2) },
  ];
  const { blocks, forestTokens } = planForest(rows, options);
  expect(forestTokens).toBe(2);
  expect(blocks[0]?.cells).toHaveLength(2);
});
