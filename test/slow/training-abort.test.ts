/** A training that is cancelled in the middle of a long step is over within a second, and its process is gone. */
import { expect, test } from 'vitest';
import type { Architecture, OpenParams } from '#shared/worker/trainer.ts';
import { newTrainer, plainOpen } from '#test/helpers/file-trainer.ts';
import { smallArchitecture } from '#test/helpers/small-trainer.ts';

const length = 512;
const architecture: Architecture = {
  ...smallArchitecture('llama'),
  layers: 8,
  width: 1024,
  hidden: 2816,
  contextLength: length,
};
const params: OpenParams = {
  architecture,
  base: { kind: 'random', seed: 1, tiedEmbeddings: true },
  mode: { kind: 'full' },
  ...plainOpen,
  limits: { longestBlock: length, mostTokens: length, share: true },
};

test('a long step is left at once', async () => {
  const trainer = newTrainer();
  await trainer.open(params);
  const { pid } = trainer;
  if (pid === undefined) throw new Error('no process');
  const controller = new AbortController();
  const row = (seed: number) => ({
    tokens: Int32Array.from({ length }, (_, at) => (at * seed) % architecture.vocabulary),
    targets: Int32Array.from({ length: length - 1 }, (_, at) => at + 1),
    weights: new Float32Array(length - 1).fill(1 / length),
  });
  const step = trainer.step(
    Array.from({ length: 8 }, (_, index) => row(7 + 2 * index)),
    { objective: { kind: 'likelihood' }, learningRate: 1e-4, stopNorm: null },
    { signal: controller.signal },
  );
  const outcome = step.then(
    () => 'finished',
    () => 'left',
  );
  // Long enough to be inside of the first of its eight batches, each of which takes seconds.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const from = performance.now();
  controller.abort();
  expect(await outcome).toBe('left');
  await trainer.close();
  const took = performance.now() - from;
  expect(took).toBeLessThan(1000);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}, 120_000);
