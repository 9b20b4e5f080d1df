/** A GGUF opened in a trainer process of its own, as a training opens it. */
import { trainerMethods } from '#shared/worker/trainer.ts';
import type { OpenParams, TrainRow, TrainerResult } from '#shared/worker/trainer.ts';
import { TrainerSession } from '#workers/trainer/session.ts';
import { readGguf } from '#core/llm/index.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { TrainerClient, architectureOf, storedTensors } from '#core/training/index.ts';
import { quietLog } from './model-service.ts';

/** On the processor with one thread, by plain Adam. */
export const plainOpen = {
  adapter: null,
  valueHead: false,
  device: 'cpu',
  threads: 1,
  seed: 1,
  adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
} as const satisfies Partial<OpenParams>;

/** LoRA on the processor with one thread, unless said otherwise. */
export function fileParams(file: string, more: Partial<OpenParams> = {}): OpenParams {
  const header = readGguf(file);
  return {
    architecture: architectureOf(header, file),
    base: { kind: 'file', file, tensors: storedTensors(header, file) },
    mode: { kind: 'lora', lora: { rank: 4, alpha: 8, targets: ['attn_q', 'attn_v', 'ffn_down'] } },
    ...plainOpen,
    limits: { longestBlock: 256, mostTokens: 256, share: true },
    ...more,
  };
}

export function newTrainer(): TrainerClient {
  return new TrainerClient({
    spawner: createNodeSpawner(),
    clock: { now: () => Date.now() },
    log: quietLog,
  });
}

/** Runs `use` with the file open, and ends the process. */
export async function withTrainer<Result>(
  params: OpenParams,
  use: (trainer: TrainerClient) => Promise<Result>,
): Promise<Result> {
  const trainer = newTrainer();
  try {
    await trainer.open(params);
    return await use(trainer);
  } finally {
    await trainer.close();
  }
}

/** The gradient of −Σ weight · log-probability, in this process. */
export async function gradientOf(params: OpenParams, rows: TrainRow[]): Promise<TrainerResult<'gradient'>> {
  const session = new TrainerSession();
  const { signal } = new AbortController();
  try {
    await session.handlers.open(params, signal);
    return trainerMethods.gradient.result.parse(
      await session.handlers.gradient({ rows, objective: { kind: 'likelihood' } }, signal),
    );
  } finally {
    session.dispose();
  }
}
