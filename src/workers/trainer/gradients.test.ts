import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import type { Architecture, TrainRow, TrainingMode } from '#shared/worker/trainer.ts';
import { tensorsOf } from './architecture.ts';
import { Device } from './device.ts';
import type { Shape } from './shape.ts';
import { libraryFolder, openLibrary } from './library.ts';
import { likelihood } from './objectives/likelihood.ts';
import { gaussian } from './random.ts';
import { selfTest } from './self-test.ts';
import { ModelTrainer } from './trainer.ts';
import { DeviceWeights, trainableSlots } from './weights.ts';

let device: Device;
beforeAll(() => {
  device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
});
afterAll(() => {
  device.dispose();
});

const allParts = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'];
const modes: TrainingMode[] = [
  { kind: 'full' },
  { kind: 'lora', lora: { rank: 4, alpha: 8, targets: allParts } },
];

function architecture(name: Architecture['name']): Architecture {
  return {
    name,
    layers: 2,
    width: 48,
    heads: 4,
    kvHeads: 2,
    headSize: 16,
    hidden: 64,
    vocabulary: 50,
    contextLength: 256,
    epsilon: 1e-5,
    ropeDimensions: 16,
    ropeBase: 10_000,
    ropeScale: name === 'gemma3' ? 0.5 : 1,
    window: name === 'gemma3' ? 5 : null,
    windowPattern: 2,
    windowRopeBase: 5000,
    attentionScale: 0.25,
  };
}

function build(name: Architecture['name'], mode: TrainingMode, share: boolean, seed = 1) {
  const random = gaussian(seed);
  const shape = architecture(name);
  const { required, optional } = tensorsOf(shape);
  const extra =
    name === 'llama'
      ? optional.filter((tensor) => tensor.name !== 'output.weight' && !tensor.name.includes('bias'))
      : [];
  const output = name === 'qwen3' ? optional.filter((tensor) => tensor.name === 'output.weight') : [];
  const present = [...required, ...extra, ...output].map((tensor) => ({
    name: tensor.name,
    shape: [tensor.shape[0] ?? 1, tensor.shape[1] ?? 1, 1, 1] satisfies Shape,
  }));
  const slots = trainableSlots(present, mode);
  const own = new Set(slots.map((slot) => slot.name));
  const weights = new DeviceWeights(
    device,
    new Map(
      present
        .filter((tensor) => !own.has(tensor.name))
        .map((tensor) => [tensor.name, { shape: tensor.shape, transpose: tensor.shape[1] > 1 }]),
    ),
    slots,
    mode.kind === 'lora' ? mode.lora : null,
  );
  for (const tensor of [...present, ...(mode.kind === 'lora' ? slots : [])]) {
    const matrix = tensor.shape[1] > 1;
    const values = Float32Array.from({ length: tensor.shape[0] * tensor.shape[1] }, () =>
      matrix ? random() * 0.15 : tensor.name.endsWith('.bias') ? random() * 0.3 : 1 + random() * 0.2,
    );
    weights.write(tensor.name, values);
  }
  const trainer = new ModelTrainer(shape, weights, {
    adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
    limits: { longestBlock: 256, mostTokens: 256, share },
  });
  return { trainer, weights };
}

/** Four alternatives of one beginning, weights of any sign, a target inside the shared part. */
function branches(seed = 5, shared = 10): TrainRow[] {
  const random = gaussian(seed);
  const token = (): number => Math.floor(Math.abs(random() * 1000)) % 50;
  const start = Array.from({ length: shared + 10 }, token);
  return [0, 1, 2, 3].map((branch) => {
    const tokens = Int32Array.from([
      ...start.slice(0, shared + 3 * branch),
      ...Array.from({ length: 12 }, token),
    ]);
    const targets = Int32Array.from([
      3,
      9,
      ...Array.from({ length: 10 }, (_, at) => tokens.length - 10 + at),
    ]);
    return { tokens, targets, weights: Float32Array.from(targets, () => random() * 0.3) };
  });
}

async function gradient(trainer: ModelTrainer, rows: TrainRow[]) {
  trainer.weights.clearGradients();
  const { loss, plan } = await trainer.accumulate(rows, likelihood(rows));
  return { loss, plan, gradients: trainer.gradients() };
}

async function expectFiniteDifferences(
  { trainer, weights }: ReturnType<typeof build>,
  rows: TrainRow[],
): Promise<void> {
  const { gradients } = await gradient(trainer, rows);
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
  describe.each(modes)('$kind', (mode) => {
    it('has the gradient that finite differences have, along every tensor’s own gradient', async () => {
      await expectFiniteDifferences(build(name, mode, true), branches());
    });

    it.each([
      { of: 'short rows', shared: 10 },
      { of: 'blocks of two chunks of queries', shared: 150 },
    ])('has the same gradient through the forest as through rows alone: $of', async ({ shared }) => {
      const rows = branches(5, shared);
      const forest = build(name, mode, true);
      const flat = build(name, mode, false);
      const a = await gradient(forest.trainer, rows);
      const b = await gradient(flat.trainer, rows);
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
  const built = build('gemma3', { kind: 'full' }, true);
  const rows = branches(5, 150).slice(0, 2);
  expect(built.trainer.plan(rows).blocks.map(({ ids }) => ids.length > 128)).toEqual([true]);
  await expectFiniteDifferences(built, rows);
});

it('passes its own start-up check', async () => {
  expect(await selfTest(device)).toBeLessThan(5e-3);
});
