import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shadeClasses, shadeOf, showToken, tokenStatistics } from './token-shade.ts';

describe('token shading', () => {
  it('puts the borders into the class that the legend names', () => {
    expect(shadeOf(Math.log(0.9))).toBe(0);
    expect(shadeOf(Math.log(0.899))).toBe(1);
    expect(shadeOf(Math.log(0.5))).toBe(1);
    expect(shadeOf(Math.log(0.1))).toBe(2);
    expect(shadeOf(Math.log(0.0999))).toBe(3);
    expect(shadeOf(-30)).toBe(4);
    expect(shadeOf(-Infinity)).toBe(4);
  });

  it('leaves tokens without a value unshaded', () => {
    expect(shadeOf(null)).toBeNull();
    expect(shadeOf(Number.NaN)).toBeNull();
  });

  it('never shades a likelier token darker', () => {
    const logprob = fc.double({ min: -40, max: 0, noNaN: true });
    fc.assert(
      fc.property(logprob, logprob, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(Number(shadeOf(high))).toBeLessThanOrEqual(Number(shadeOf(low)));
      }),
    );
    expect(shadeClasses.map((shade) => shade.level)).toEqual([0, 1, 2, 3, 4]);
  });

  it('counts only sampled tokens and gives perplexity from the mean', () => {
    const half = Math.log(0.5);
    const statistics = tokenStatistics([null, half, half, Math.log(0.25)]);
    expect(statistics?.count).toBe(3);
    expect(statistics?.perplexity).toBeCloseTo(2 ** (4 / 3), 10);
    expect(statistics?.lowest).toBeCloseTo(Math.log(0.25), 10);
    expect(tokenStatistics([null])).toBeNull();
  });

  it('shows white space that would vanish', () => {
    expect(showToken('\n')).toBe('↵\n');
    expect(showToken('')).toBe('∅');
  });
});
