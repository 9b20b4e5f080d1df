/** The estimate that a training is admitted by, against what the allocator then takes for a batch of one full block. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { trainingMemory } from '#core/training/memory.ts';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import type { Architecture, OpenParams } from '#shared/worker/trainer.ts';
import { plainOpen } from '#test/helpers/file-trainer.ts';
import { gradientOfRows, smallModes, smallTrainer } from '#test/helpers/small-trainer.ts';
import { Device } from '#workers/trainer/device.ts';
import { libraryFolder, openLibrary } from '#workers/trainer/library.ts';

let device: Device;
beforeAll(() => {
  device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
});
afterAll(() => {
  device.dispose();
});

const changes: { of: string; longestBlock: number; change: Partial<Architecture> }[] = [
  { of: 'a short block', longestBlock: 128, change: {} },
  { of: 'a wide model', longestBlock: 256, change: { width: 128 } },
  { of: 'a wide feed-forward part', longestBlock: 256, change: { hidden: 400 } },
  { of: 'many heads', longestBlock: 512, change: { heads: 8, kvHeads: 8 } },
  { of: 'a large vocabulary', longestBlock: 256, change: { vocabulary: 6000 } },
  { of: 'a long block in chunks', longestBlock: 1536, change: { layers: 4 } },
];

const cases = trainableArchitectures.flatMap((name) =>
  smallModes.flatMap((mode) => changes.map((change) => ({ name, mode, kind: mode.kind, ...change }))),
);

it.each(cases)('estimates $name, $kind, $of', async ({ name, mode, longestBlock, change }) => {
  const context = { contextLength: 2048, ...change };
  const { trainer, architecture } = smallTrainer(device, name, mode, true, { longestBlock, change: context });
  const place = vi.spyOn(device, 'place');
  const weights = new Float32Array(longestBlock - 1).fill(1 / longestBlock);
  await gradientOfRows(trainer, [
    {
      tokens: Int32Array.from({ length: longestBlock }, (_, at) => (at * 37) % 47),
      targets: Int32Array.from({ length: longestBlock - 1 }, (_, at) => at + 1),
      weights,
    },
  ]);
  const taken = Math.max(...place.mock.results.map(({ value }) => Number(value)));
  place.mockRestore();
  trainer.dispose();
  const params: OpenParams = {
    architecture,
    base: { kind: 'random', seed: 1, tiedEmbeddings: true },
    mode,
    ...plainOpen,
    limits: { longestBlock, mostTokens: longestBlock, share: true },
  };
  const ratio = trainingMemory(params).batchBytes / taken;
  expect(ratio).toBeGreaterThan(0.95);
  expect(ratio).toBeLessThan(1.35);
});
