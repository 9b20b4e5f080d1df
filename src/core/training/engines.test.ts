/** The trainer and node-llama-cpp read the same file: their log-probabilities are the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { architectureVocabulary, writeArchitectureGguf } from '#test/helpers/architecture-gguf.ts';
import { fileParams, withTrainer } from '#test/helpers/file-trainer.ts';
import { engineLogprobs, testModelService } from '#test/helpers/model-service.ts';
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
    const expected = await engineLogprobs(models.service, file, rows);
    const scored = await withTrainer(fileParams(file), (trainer) => trainer.score(rows, { adapters: false }));
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
