/** Small models of every architecture on a device, and rows that share beginnings: what gradients are compared on. */
import type { Architecture, TrainRow, TrainingMode } from '#shared/worker/trainer.ts';
import { tensorsOf } from '#workers/trainer/architecture.ts';
import type { Device } from '#workers/trainer/device.ts';
import { likelihood } from '#workers/trainer/objectives/likelihood.ts';
import { gaussian } from '#workers/trainer/random.ts';
import type { Shape } from '#workers/trainer/shape.ts';
import { ModelTrainer } from '#workers/trainer/trainer.ts';
import { DeviceWeights, trainableSlots } from '#workers/trainer/weights.ts';

const allParts = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'];
export const smallModes: TrainingMode[] = [
  { kind: 'full' },
  { kind: 'lora', lora: { rank: 4, alpha: 8, targets: allParts } },
];

export function smallArchitecture(name: Architecture['name']): Architecture {
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

interface SmallOptions {
  longestBlock?: number;
  change?: Partial<Architecture>;
}

export function smallTrainer(
  device: Device,
  name: Architecture['name'],
  mode: TrainingMode,
  share: boolean,
  { longestBlock = 256, change = {} }: SmallOptions = {},
) {
  const random = gaussian(1);
  const shape = { ...smallArchitecture(name), ...change };
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
    limits: { longestBlock, mostTokens: longestBlock, share },
  });
  return { trainer, weights, architecture: shape };
}

/** Four alternatives of one beginning, weights of any sign, a target inside the shared part. */
export function branches(seed = 5, shared = 10): TrainRow[] {
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

export async function gradientOfRows(trainer: ModelTrainer, rows: TrainRow[]) {
  trainer.weights.clearGradients();
  const { loss, plan } = await trainer.accumulate(rows, likelihood(rows));
  return { loss, plan, gradients: trainer.gradients() };
}
