/** The trainer and node-llama-cpp read the same file: their log-probabilities are the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import { readGguf } from '#core/llm/index.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { TrainerClient, architectureOf, storedTensors } from '#core/training/index.ts';
import { architectureVocabulary, writeArchitectureGguf } from '#test/helpers/architecture-gguf.ts';
import { quietLog, testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';

let folder: string;
let models: TestService;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-engines-'));
  const spawner = createNodeSpawner();
  models = testModelService({
    // Half-precision keys and values differ by about 1e-3 from ours; what is compared here are the engines, not the roundings.
    spawner: {
      spawn: (entry, { env }) => spawner.spawn(entry, { env: { ...env, DAYDREAM_KV_CACHE: 'F32' } }),
    },
  });
});
afterAll(async () => {
  await models.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Longer than gemma3's window, so that it matters. */
const rows = [40, 40, 25].map((length, row) => {
  const tokens = Int32Array.from({ length }, (_, at) =>
    at === 0 ? 1 : 3 + ((at * 37 + row * 11 + (at % 5) * 101) % (architectureVocabulary - 3)),
  );
  return { tokens, targets: Int32Array.from({ length: length - 1 }, (_, at) => at + 1) };
});

it.each([
  ...trainableArchitectures.map((name) => ({ name, linearScale: undefined })),
  { name: 'llama' as const, linearScale: 2 },
])(
  'has node-llama-cpp’s log-probabilities for $name (rope scaling $linearScale)',
  async ({ name, linearScale }) => {
    const file = path.join(folder, `${name}-${String(linearScale ?? 1)}.gguf`);
    writeArchitectureGguf(file, name, { seed: 5, ...(linearScale === undefined ? {} : { linearScale }) });
    const base = await models.service.resolve(file);
    const loaded = await models.service.load(base, {
      adapters: [],
      contextTokens: 256,
      sequences: 1,
      threads: 1,
      format: 'auto',
    });
    const expected: number[][] = [];
    for (const { tokens } of rows) {
      expected.push(
        await loaded.model.score({ prompt: [...tokens.subarray(0, 1)], completion: [...tokens.subarray(1)] }),
      );
    }
    await loaded.release();

    const trainer = new TrainerClient({
      spawner: createNodeSpawner(),
      clock: { now: () => Date.now() },
      log: quietLog,
    });
    const header = readGguf(file);
    await trainer.open({
      architecture: architectureOf(header, file),
      base: { kind: 'file', file, tensors: storedTensors(header, file) },
      mode: { kind: 'lora', lora: { rank: 4, alpha: 8, targets: ['attn_q'] } },
      adapter: null,
      valueHead: false,
      device: 'cpu',
      threads: 1,
      seed: 1,
      adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
      limits: { longestBlock: 256, mostTokens: 256, share: true },
    });
    const scored = await trainer.score(rows, { adapters: false });
    await trainer.close();
    // gemma3: ggml looks GELU up in a half-precision table, the trainer computes it.
    const gaps = scored.flatMap((logprobs, row) =>
      [...logprobs].map((value, at) => Math.abs(value - (expected[row]?.[at] ?? NaN))),
    );
    expect(gaps).toHaveLength(39 + 39 + 24);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(
      name === 'gemma3' ? 1e-3 : 1e-5,
    );
    expect(Math.max(...gaps)).toBeLessThan(name === 'gemma3' ? 5e-3 : 1e-4);
    // The models are peaked: agreement is not that of two uniform distributions.
    expect(Math.max(...expected.flat()) - Math.min(...expected.flat())).toBeGreaterThan(2);
  },
  60_000,
);
