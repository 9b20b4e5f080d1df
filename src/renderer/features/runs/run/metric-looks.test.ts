import { expect, it } from 'vitest';
import { metricLook, metricRank } from './metric-looks.ts';

it('puts losses before how they were reached, the speed after that, and what it does not know last', () => {
  const names = ['unknown', 'rowTokens', 'computedTokensPerSecond', 'gradientNorm', 'loss/il'];
  expect(names.toSorted((left, right) => metricRank(left) - metricRank(right))).toEqual(names.toReversed());
});

it('gives an unknown metric its own name', () => {
  expect(metricLook('some-thing')).toMatchObject({ title: 'Some thing', unit: '' });
});
