import { expect, it } from 'vitest';
import { metricLook, metricRank } from './metric-looks.ts';

it('puts losses before how they were reached, the speed after that, and what it does not know last', () => {
  const names = ['unknown', 'rowTokens', 'computedTokensPerSecond', 'gradientNorm', 'loss/il'];
  expect(names.toSorted((left, right) => metricRank(left) - metricRank(right))).toEqual(names.toReversed());
});

it('gives an unknown metric its own name', () => {
  expect(metricLook('some-thing', 'some-kind')).toMatchObject({
    title: 'Some thing',
    unit: '',
    xLabel: 'step',
  });
});

it('says of each metric what its points are counted in: that of the job that measured it', () => {
  const over = (name: string, kind: string) => metricLook(name, kind).xLabel;
  for (const name of ['completion-tokens', 'evaluated-prompt-tokens', 'invalid-share']) {
    expect(over(name, 'rollout')).toBe('episode');
    expect(over(name, 'demonstrations')).toBe('episode');
    expect(over(name, 'branching')).toBe('state');
  }
  expect(over('kept-share', 'reflection')).toBe('text');
  expect(over('completion-tokens', 'reflection')).toBe('text');
  expect(over('loss/il', 'train')).toBe('update');
  expect(metricLook('invalid-share', 'branching').unit).toBe('of branches');
  expect(metricLook('invalid-share', 'rollout').unit).toBe('of steps');
});
