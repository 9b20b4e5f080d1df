import { afterAll, beforeAll, expect, it } from 'vitest';
import { Device } from './device.ts';
import type { Shape } from './shape.ts';
import { libraryFolder, openLibrary } from './library.ts';
import { Optimizer } from './optimizer.ts';
import { gaussian } from './random.ts';
import { DeviceWeights } from './weights.ts';
import type { UpdateRule } from './weights.ts';

let device: Device;
beforeAll(() => {
  device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
});
afterAll(() => {
  device.dispose();
});

function weightsOf(slots: readonly { name: string; shape: Shape; group: UpdateRule }[]): DeviceWeights {
  return new DeviceWeights(
    device,
    new Map(),
    slots.map((slot) => ({ ...slot, length: slot.shape[0] * slot.shape[1] })),
    null,
  );
}

function fill(weights: DeviceWeights, name: string, gradient: Float32Array, values: Float32Array): void {
  weights.write(name, values);
  const slot = weights.get(name);
  if (slot.gradient !== null) device.write(slot.gradient, gradient);
}

it('steps as AdamW’s formula says, decay and clipping included', async () => {
  const weights = weightsOf([
    { name: 'matrix', shape: [5, 3, 1, 1], group: 'decay' },
    { name: 'norm', shape: [7, 1, 1, 1], group: 'plain' },
  ]);
  const random = gaussian(1);
  const draw = (length: number) => Float32Array.from({ length }, () => random());
  const start = { matrix: draw(15), norm: draw(7) };
  const optimizer = new Optimizer(weights, {
    beta1: 0.9,
    beta2: 0.99,
    epsilon: 1e-6,
    weightDecay: 0.1,
    clipNorm: 1,
    muon: null,
  });
  const expected = { matrix: Array.from(start.matrix), norm: Array.from(start.norm) };
  const moments = { matrix: start.matrix.map(() => 0), norm: start.norm.map(() => 0) };
  const squares = { matrix: start.matrix.map(() => 0), norm: start.norm.map(() => 0) };
  weights.write('matrix', start.matrix);
  weights.write('norm', start.norm);
  for (let update = 1; update <= 3; update += 1) {
    const gradients = { matrix: draw(15), norm: draw(7) };
    fill(weights, 'matrix', gradients.matrix, weights.read('matrix'));
    fill(weights, 'norm', gradients.norm, weights.read('norm'));
    const norm = await optimizer.gradientNorm();
    expect(norm).toBeCloseTo(Math.hypot(...gradients.matrix, ...gradients.norm), 4);
    await optimizer.step(0.01, update, norm);
    for (const name of ['matrix', 'norm'] as const) {
      expected[name] = expected[name].map((weight, index) => {
        const g = (gradients[name][index] ?? 0) * Math.min(1, 1 / norm);
        const m = (moments[name][index] = 0.9 * (moments[name][index] ?? 0) + 0.1 * g);
        const v = (squares[name][index] = 0.99 * (squares[name][index] ?? 0) + 0.01 * g * g);
        const step = m / (1 - 0.9 ** update) / (Math.sqrt(v / (1 - 0.99 ** update)) + 1e-6);
        return weight * (1 - 0.01 * (name === 'matrix' ? 0.1 : 0)) - 0.01 * step;
      });
    }
  }
  for (const name of ['matrix', 'norm'] as const) {
    weights.read(name).forEach((value, index) => {
      expect(value).toBeCloseTo(expected[name][index] ?? NaN, 4);
    });
  }
  optimizer.dispose();
  weights.dispose();
});

it.each([[[6, 16, 1, 1]], [[16, 6, 1, 1]], [[8, 8, 1, 1]]] satisfies [Shape][])(
  'moves a matrix of %j by Muon in a nearly orthogonal direction',
  async (shape) => {
    const weights = weightsOf([{ name: 'blk', shape, group: 'muon' }]);
    const random = gaussian(2);
    const [inputs, outputs] = shape;
    const gradient = Float32Array.from({ length: inputs * outputs }, () => random());
    fill(weights, 'blk', gradient, new Float32Array(inputs * outputs));
    const optimizer = new Optimizer(weights, {
      beta1: 0.9,
      beta2: 0.99,
      epsilon: 1e-8,
      weightDecay: 0,
      clipNorm: 0,
      muon: { momentum: 0.95, rateFactor: 2 },
    });
    await optimizer.step(0.5, 1, 1);
    const scale = Math.sqrt(Math.max(1, outputs / inputs));
    const moved = weights.read('blk').map((value) => -value / scale);
    // Downhill.
    expect(moved.reduce((sum, value, index) => sum + value * (gradient[index] ?? 0), 0)).toBeGreaterThan(0);
    // Rows (or columns, whichever are fewer) of nearly unit length, nearly at right angles: 0.7 … 1.2 is what five steps reach.
    const short = Math.min(inputs, outputs);
    const vector = (index: number) =>
      Array.from({ length: Math.max(inputs, outputs) }, (_, at) =>
        inputs >= outputs ? (moved[index * inputs + at] ?? 0) : (moved[at * inputs + index] ?? 0),
      );
    for (let one = 0; one < short; one += 1) {
      for (let other = 0; other < short; other += 1) {
        const product = vector(one).reduce((sum, value, at) => sum + value * (vector(other)[at] ?? 0), 0);
        if (one === other) expect(product).toBeGreaterThan(0.4);
        expect(Math.abs(product)).toBeLessThan(one === other ? 1.5 : 0.4);
      }
    }
    optimizer.dispose();
    weights.dispose();
  },
);
