/**
 * One second at start-up: the gradient of a tiny model against the slope of its loss along that gradient. It runs every
 * operation once, so a back-end that lacks one, or an incompatible library, shows here and not in the middle of a training.
 */
import { AppError } from '#shared/errors.ts';
import type { Architecture, TrainRow } from '#shared/worker/trainer.ts';
import { tensorsOf } from './architecture.ts';
import type { Device } from './device.ts';
import type { Shape } from './shape.ts';
import { likelihood } from './objectives/likelihood.ts';
import { gaussian } from './random.ts';
import { ModelTrainer } from './trainer.ts';
import { DeviceWeights, trainableSlots } from './weights.ts';

const tiny: Architecture = {
  name: 'qwen3',
  layers: 2,
  width: 32,
  heads: 2,
  kvHeads: 1,
  headSize: 16,
  hidden: 48,
  vocabulary: 40,
  contextLength: 64,
  epsilon: 1e-5,
  ropeDimensions: 16,
  ropeBase: 10_000,
  ropeScale: 1,
  window: null,
  windowPattern: 1,
  windowRopeBase: 10_000,
  attentionScale: 0.25,
};

const tolerance = 5e-3;

/** → relative error. @throws TRAINER_UNAVAILABLE when the gradient is wrong */
export async function selfTest(device: Device): Promise<number> {
  const random = gaussian(7);
  const present = tensorsOf(tiny).required.map(({ name, shape }) => ({
    name,
    shape: [shape[0] ?? 1, shape[1] ?? 1, 1, 1] satisfies Shape,
  }));
  const weights = new DeviceWeights(device, new Map(), trainableSlots(present, { kind: 'full' }), null);
  for (const { name, shape, length } of weights.slots) {
    weights.write(
      name,
      Float32Array.from({ length }, () => (shape[1] > 1 ? random() * 0.2 : 1 + random() * 0.1)),
    );
  }
  const trainer = new ModelTrainer(tiny, weights, {
    adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
    limits: { longestBlock: 64, mostTokens: 64, share: true },
  });
  try {
    const rows = [0, 1, 2].map((index): TrainRow => {
      const tokens = Int32Array.from(
        { length: 12 },
        (_, at) => (at < 6 ? at * 5 : at * 7 + index * 3) % tiny.vocabulary,
      );
      return { tokens, targets: Int32Array.of(3, 8, 10, 11), weights: Float32Array.of(0.5, 1, -0.7, 1) };
    });
    weights.clearGradients();
    await trainer.accumulate(rows, likelihood(rows));
    const gradients = trainer.gradients();
    const norm = Math.sqrt(
      Object.values(gradients).reduce((sum, values) => sum + values.reduce((s, x) => s + x * x, 0), 0),
    );
    const before = new Map(weights.slots.map(({ name }) => [name, weights.read(name)]));
    const lossAt = async (distance: number): Promise<number> => {
      for (const [name, values] of before) {
        const direction = gradients[name] ?? values;
        weights.write(
          name,
          values.map((value, index) => value + (distance * (direction[index] ?? 0)) / norm),
        );
      }
      const objective = likelihood(rows);
      const scored = await trainer.score(rows);
      return scored.reduce(
        (sum, logprobs, row) => sum + objective.row(row, { logprobs, values: null }).loss,
        0,
      );
    };
    const h = 0.02;
    const slope =
      (8 * ((await lossAt(h)) - (await lossAt(-h))) - ((await lossAt(2 * h)) - (await lossAt(-2 * h)))) /
      (12 * h);
    const error = Math.abs(slope - norm) / norm;
    if (!(error < tolerance)) {
      throw new AppError({
        code: 'TRAINER_UNAVAILABLE',
        message:
          `${device.info.description} computes wrong gradients (relative error ${error.toExponential(1)}). ` +
          'Train on the processor, or update the graphics driver.',
      });
    }
    return error;
  } finally {
    trainer.dispose();
  }
}
