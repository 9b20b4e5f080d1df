import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import type { TrainRow } from '#shared/worker/trainer.ts';
import { branches, gradientOfRows, smallModes, smallTrainer } from '#test/helpers/small-trainer.ts';
import { Device } from './device.ts';
import { libraryFolder, openLibrary } from './library.ts';
import { likelihood } from './objectives/likelihood.ts';
import { selfTest } from './self-test.ts';

let device: Device;
beforeAll(() => {
  device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
});
afterAll(() => {
  device.dispose();
});

async function expectFiniteDifferences(
  { trainer, weights }: ReturnType<typeof smallTrainer>,
  rows: TrainRow[],
): Promise<void> {
  const { gradients } = await gradientOfRows(trainer, rows);
  const loss = async (): Promise<number> => {
    const objective = likelihood(rows);
    const scored = await trainer.score(rows);
    return scored.reduce(
      (sum, logprobs, row) => sum + objective.row(row, { logprobs, values: null }).loss,
      0,
    );
  };
  for (const { name: tensor } of weights.slots) {
    const direction = gradients[tensor] ?? new Float32Array();
    const norm = Math.hypot(...direction);
    const before = weights.read(tensor);
    const at = async (distance: number): Promise<number> => {
      weights.write(
        tensor,
        before.map((value, index) => value + (distance * (direction[index] ?? 0)) / norm),
      );
      return loss();
    };
    // Rounding grows and truncation falls with a shorter step; a wrong gradient is wrong at each of them.
    let error = Infinity;
    for (const h of [0.06, 0.03, 0.015]) {
      const slope =
        (8 * ((await at(h)) - (await at(-h))) - ((await at(2 * h)) - (await at(-2 * h)))) / (12 * h);
      error = Math.min(error, Math.abs(slope - norm) / Math.max(norm, 0.05));
    }
    weights.write(tensor, before);
    // Float32 sums of 48 log-probabilities carry about 1e-5; below a norm of 0.05 that is all one can tell.
    expect(error, tensor).toBeLessThan(1e-3);
  }
  trainer.dispose();
}

describe.each(trainableArchitectures)('%s', (name) => {
  describe.each(smallModes)('$kind', (mode) => {
    it('has the gradient that finite differences have, along every tensor’s own gradient', async () => {
      await expectFiniteDifferences(smallTrainer(device, name, mode, true), branches());
    });

    it.each([
      { of: 'short rows', shared: 10 },
      { of: 'blocks of two chunks of queries', shared: 150 },
    ])('has the same gradient through the forest as through rows alone: $of', async ({ shared }) => {
      const rows = branches(5, shared);
      const forest = smallTrainer(device, name, mode, true);
      const flat = smallTrainer(device, name, mode, false);
      const a = await gradientOfRows(forest.trainer, rows);
      const b = await gradientOfRows(flat.trainer, rows);
      expect(a.plan.forestTokens).toBeLessThan(b.plan.forestTokens);
      if (shared > 10) expect(Math.max(...a.plan.blocks.map(({ ids }) => ids.length))).toBeGreaterThan(128);
      expect(b.plan.forestTokens).toBe(b.plan.flatTokens);
      expect(a.loss).toBeCloseTo(b.loss, 4);
      for (const [tensor, values] of Object.entries(b.gradients)) {
        const other = a.gradients[tensor] ?? new Float32Array();
        const gap = Math.hypot(...values.map((value, index) => value - (other[index] ?? 0)));
        expect(gap / Math.hypot(...values), tensor).toBeLessThan(1e-5);
      }
      forest.trainer.dispose();
      flat.trainer.dispose();
    });
  });
});

it('has the gradient that finite differences have in a block of two chunks of queries, with windows and shared keys', async () => {
  const built = smallTrainer(device, 'gemma3', { kind: 'full' }, true);
  const rows = branches(5, 150).slice(0, 2);
  expect(built.trainer.plan(rows).blocks.map(({ ids }) => ids.length > 128)).toEqual([true]);
  await expectFiniteDifferences(built, rows);
});

it('passes its own start-up check', async () => {
  expect(await selfTest(device)).toBeLessThan(5e-3);
});
