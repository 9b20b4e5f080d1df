import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jobIdSchema } from '#shared/ids.ts';
import { align, csvOf, seriesOf, smooth } from './series.ts';

const jobId = jobIdSchema.parse('j');

describe('series', () => {
  it('keeps the last point of a step and sorts by step', () => {
    const points = [
      { jobId, name: 'a', step: 2, value: 5, at: 1 },
      { jobId, name: 'a', step: 1, value: 4, at: 2 },
      { jobId, name: 'a', step: 2, value: 6, at: 3 },
      { jobId, name: 'b', step: 1, value: 9, at: 3 },
    ];
    expect(seriesOf(points, 'a', 'A')).toEqual({ label: 'A', steps: [1, 2], values: [4, 6] });
  });

  it('leaves gaps as null when series have different steps', () => {
    const left = { label: 'l', steps: [1, 3], values: [1, 3] };
    const right = { label: 'r', steps: [2, 3], values: [20, 30] };
    expect(align([left, right])).toEqual([
      [1, 2, 3],
      [1, null, 3],
      [null, 20, 30],
    ]);
  });

  it('smooths a constant to the same constant from its first point on', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (value, weight) => {
          for (const out of smooth([value, value, value], weight)) expect(out).toBeCloseTo(value, 4);
        },
      ),
    );
  });

  it('never smooths beyond the range of its values', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 1 }), (values) => {
        const out = smooth(values, 0.9);
        expect(Math.max(...out)).toBeLessThanOrEqual(Math.max(...values) + 1e-6);
        expect(Math.min(...out)).toBeGreaterThanOrEqual(Math.min(...values) - 1e-6);
      }),
    );
  });

  it('writes CSV with quoted labels and empty cells for gaps', () => {
    const csv = csvOf('step', [
      { label: 'a "x"', steps: [1], values: [0.5] },
      { label: 'b', steps: [2], values: [7] },
    ]);
    expect(csv).toBe('"step","a ""x""","b"\n1,0.5,\n2,,7\n');
  });
});
