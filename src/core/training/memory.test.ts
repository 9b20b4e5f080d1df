import { expect, it } from 'vitest';
import type { OpenParams } from '#shared/worker/trainer.ts';
import { requireMemory, trainingMemory } from '#core/training/memory.ts';

const billion: OpenParams = {
  architecture: {
    name: 'llama',
    layers: 16,
    width: 2048,
    heads: 32,
    kvHeads: 8,
    headSize: 64,
    hidden: 8192,
    vocabulary: 128_256,
    contextLength: 8192,
    epsilon: 1e-5,
    ropeDimensions: 64,
    ropeBase: 500_000,
    ropeScale: 1,
    window: null,
    windowPattern: 1,
    windowRopeBase: 10_000,
    attentionScale: 0.125,
  },
  base: {
    kind: 'file',
    file: 'a.gguf',
    tensors: [{ name: 'blk.0.attn_q.weight', shape: [2048, 2048], type: 0, offset: 0, bytes: 1 }],
  },
  mode: { kind: 'lora', lora: { rank: 16, alpha: 32, targets: ['attn_q'] } },
  adapter: null,
  valueHead: false,
  device: 'cpu',
  threads: 1,
  seed: 1,
  adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 1, muon: null },
  limits: { longestBlock: 2048, mostTokens: 2048, share: true },
};

it('counts weights, transposes and what an adapter needs', () => {
  const matrix = 2048 * 2048;
  expect(trainingMemory(billion).weightsBytes).toBe(4 * (2 * matrix + 4 * 16 * (2048 + 2048)));
  expect(trainingMemory({ ...billion, mode: { kind: 'full' } }).weightsBytes).toBe(4 * 4 * matrix);
});

it('refuses what does not fit, and names the setting that would', () => {
  const { weightsBytes, batchBytes } = trainingMemory(billion);
  expect(requireMemory(billion, 2 * (weightsBytes + batchBytes))).toEqual({ weightsBytes, batchBytes });
  expect(() => requireMemory(billion, (weightsBytes + batchBytes) / 2)).toThrow(
    /--block-tokens (1024|512|256)/,
  );
  expect(() => requireMemory(billion, weightsBytes / 2)).toThrow(/smaller model/);
  expect(() => requireMemory({ ...billion, mode: { kind: 'full' } }, weightsBytes / 2)).toThrow(/adapter/);
});
