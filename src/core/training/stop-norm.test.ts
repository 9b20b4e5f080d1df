import { expect, it } from 'vitest';
import { stopNorm } from './stop-norm.ts';

const usual = { divergenceFactor: 50, clipNorm: 1 };

it('stops at so many times the running median, and says so', () => {
  expect(stopNorm(Array<number>(20).fill(3), usual)).toEqual({
    norm: 150,
    rule: 'divergenceFactor=50 times the median of the last 20 updates, 3; --set divergenceFactor=… changes it',
  });
});

it('lets a training that has converged meet a batch that surprises it', () => {
  const converged = Array<number>(64).fill(0.02);
  expect(stopNorm(converged, usual)).toMatchObject({
    norm: 50,
    rule: expect.stringContaining('clipNorm, 1'),
  });
  // Without clipping nothing bounds such a step.
  expect(stopNorm(converged, { divergenceFactor: 50, clipNorm: 0 })?.norm).toBeCloseTo(1);
});

it('has no opinion before it has seen what is usual', () => {
  expect(stopNorm(Array<number>(15).fill(3), usual)).toBeNull();
  expect(stopNorm(Array<number>(20).fill(0), { divergenceFactor: 50, clipNorm: 0 })).toBeNull();
});
