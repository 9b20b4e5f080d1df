import { describe, expect, it } from 'vitest';
import { wilsonInterval } from '#shared/wilson.ts';

describe('wilsonInterval', () => {
  it.each([
    // Brown, Cai and DasGupta's formula, worked by hand with z = 1.96.
    [5, 10, 0.2366, 0.7634],
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [81, 263, 0.2553, 0.3662],
  ])('of %i in %i is %d to %d', (successes, n, low, high) => {
    const interval = wilsonInterval(successes, n);
    expect(interval?.low).toBeCloseTo(low, 3);
    expect(interval?.high).toBeCloseTo(high, 3);
  });

  it('is nothing where nothing was counted', () => {
    expect(wilsonInterval(0, 0)).toBeNull();
  });
});
