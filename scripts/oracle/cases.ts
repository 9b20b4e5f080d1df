/**
 * The models and batches that PyTorch and the trainer both compute, from seeds alone, and the form of the golden values. The
 * numbers are made here only: `main.ts` writes them for reference.py, the unit test hands them to the trainer.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { tensorsOf } from '../../src/workers/trainer/architecture.ts';
import { gaussian } from '../../src/workers/trainer/random.ts';
import { trainableArchitectures } from '../../src/shared/worker/trainer.ts';
import type { Architecture, ObjectiveSpec } from '../../src/shared/worker/trainer.ts';

export const modes = ['full', 'lora'] as const;
export type Mode = (typeof modes)[number];

export const lora = {
  rank: 4,
  alpha: 8,
  targets: ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'],
};

/** IL, GRPO (KL to the reference, no value head), PPO (value head), DPO. */
export const objectives = {
  il: { kind: 'likelihood' },
  grpo: {
    kind: 'policy',
    clipLow: 0.2,
    clipHigh: 0.28,
    klCoefficient: 0.05,
    valueCoefficient: 0,
    valueClip: 0.2,
  },
  ppo: {
    kind: 'policy',
    clipLow: 0.2,
    clipHigh: 0.2,
    klCoefficient: 0,
    valueCoefficient: 0.5,
    valueClip: 0.5,
  },
  dpo: { kind: 'preference', beta: 0.4 },
} as const satisfies Record<string, ObjectiveSpec>;
export type ObjectiveName = keyof typeof objectives;
export const objectiveNames: readonly ObjectiveName[] = ['il', 'grpo', 'ppo', 'dpo'];

/** Directions of ±1 onto which each gradient is projected. */
export const projections = 3;

export interface CaseTensor {
  name: string;
  /** ggml's order: [in, out] for a matrix, [length] for a vector. */
  shape: readonly number[];
  role: 'base' | 'lora' | 'value-head';
  values: Float32Array;
}

/** Numbers of one row, all by target; `oldNoise` and `referenceNoise` are added to log-probabilities of the model itself. */
export interface CaseRow {
  tokens: number[];
  targets: number[];
  weights: number[];
  advantages: number[];
  oldNoise: number[];
  referenceNoise: number[];
  oldValues: number[];
  returns: number[];
}

export interface OracleCase {
  architecture: Architecture;
  tensors: CaseTensor[];
  rows: CaseRow[];
  /** Projection directions: [projections][longest tensor], ±1; a tensor uses the beginning. */
  directions: Int8Array[];
  /** SHA-256 of all of it. */
  hash: string;
}

export function oracleArchitecture(name: Architecture['name']): Architecture {
  const gemma = name === 'gemma3';
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
    epsilon: name === 'llama' ? 1e-5 : 1e-6,
    ropeDimensions: 16,
    ropeBase: 10_000,
    ropeScale: gemma ? 0.5 : 1,
    window: gemma ? 5 : null,
    windowPattern: gemma ? 2 : 1,
    windowRopeBase: gemma ? 5000 : 10_000,
    attentionScale: gemma ? 0.2 : 0.25,
  };
}

export function oracleCase(name: Architecture['name']): OracleCase {
  const architecture = oracleArchitecture(name);
  const random = gaussian(100 + trainableArchitectures.indexOf(name));
  const { required, optional } = tensorsOf(architecture);
  // Llama with the factors of its rotation, Qwen 3 with an output table of its own, the others tied.
  const wanted = { llama: 'rope_freqs.weight', qwen2: null, qwen3: 'output.weight', gemma3: null }[name];
  const extra = optional.filter((tensor) => tensor.name === wanted);
  const base = [...required, ...extra];
  const shapes: Omit<CaseTensor, 'values'>[] = [
    ...base.map((tensor) => ({ ...tensor, role: 'base' as const })),
    ...base
      .filter((tensor) => lora.targets.some((part) => tensor.name.endsWith(`.${part}.weight`)))
      .flatMap((tensor) => [
        { name: `${tensor.name}.lora_a`, shape: [tensor.shape[0] ?? 1, lora.rank], role: 'lora' as const },
        { name: `${tensor.name}.lora_b`, shape: [lora.rank, tensor.shape[1] ?? 1], role: 'lora' as const },
      ]),
    { name: 'value_head.weight', shape: [architecture.width], role: 'value-head' },
  ];
  const tensors = shapes.map((tensor) => {
    const length = tensor.shape.reduce((product, size) => product * size, 1);
    const draw = (): number => {
      if (tensor.shape.length > 1 || tensor.role !== 'base') return random() * 0.15;
      return tensor.name.endsWith('.bias') ? random() * 0.3 : 1 + random() * 0.2;
    };
    return { ...tensor, values: Float32Array.from({ length }, draw) };
  });
  const rows = makeRows(random, architecture.vocabulary);
  const longest = Math.max(...tensors.map(({ values }) => values.length));
  const directions = Array.from({ length: projections }, () =>
    Int8Array.from({ length: longest }, () => (random() < 0 ? -1 : 1)),
  );
  const hash = createHash('sha256');
  hash.update(JSON.stringify({ architecture, lora, objectives, shapes, rows }));
  for (const { values } of tensors) hash.update(values);
  for (const direction of directions) hash.update(direction);
  return { architecture, tensors, rows, directions, hash: hash.digest('hex') };
}

/** Four rows with a common beginning, weights and advantages of any sign, one target inside the common part. */
function makeRows(random: () => number, vocabulary: number): CaseRow[] {
  const token = (): number => Math.floor(Math.abs(random() * 1000)) % vocabulary;
  const start = Array.from({ length: 20 }, token);
  return [0, 1, 2, 3].map((branch) => {
    const tokens = [...start.slice(0, 10 + 3 * branch), ...Array.from({ length: 12 }, token)];
    const targets = [3, 9, ...Array.from({ length: 10 }, (_, at) => tokens.length - 10 + at)];
    // Float32 as the trainer takes them, so that both sides read the same numbers.
    const each = (deviation: number, mean = 0): number[] =>
      targets.map(() => Math.fround(mean + random() * deviation));
    return {
      tokens,
      targets,
      weights: each(0.3, 0.1),
      advantages: each(1),
      oldNoise: each(0.3),
      referenceNoise: each(0.3),
      oldValues: each(0.7),
      returns: each(0.7),
    };
  });
}

/** One golden gradient: its norm, then its projections. */
const gradientSchema = z.array(z.number()).length(1 + projections);

const resultSchema = z.object({ loss: z.number(), gradients: z.record(z.string(), gradientSchema) });

const modeSchema = z.object({
  /** Log-probabilities of each row's targets, and those without adapters. */
  logprobs: z.array(z.array(z.number())),
  baseLogprobs: z.array(z.array(z.number())),
  objectives: z.record(z.enum(['il', 'grpo', 'ppo', 'dpo']), resultSchema),
});

/** What reference.py writes. */
export const referenceSchema = z.object({
  versions: z.object({ python: z.string(), torch: z.string(), dtype: z.string() }),
  modes: z.record(z.enum(modes), modeSchema),
});

export const goldenSchema = referenceSchema.extend({
  architecture: z.enum(trainableArchitectures),
  /** SHA-256 of reference.py, and of the weights and batch. */
  script: z.string(),
  inputs: z.string(),
});
export type Golden = z.infer<typeof goldenSchema>;

/** Line ends do not count. */
export function scriptHash(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
