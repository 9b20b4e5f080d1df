/** Stored types other than float32: the trainer learns on the very weights that the file keeps. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TrainRow } from '#shared/worker/trainer.ts';
import { architectureVocabulary, writeArchitectureGguf } from '#test/helpers/architecture-gguf.ts';
import { fileParams, gradientOf, withTrainer } from '#test/helpers/file-trainer.ts';
import { engineLogprobs, testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { storedTypes } from '#test/helpers/quantise.ts';

let folder: string;
let models: TestService;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'daydream-quantised-'));
  models = testModelService();
});
afterAll(async () => {
  await models.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const rows = [30, 30, 21].map((length, row): TrainRow => {
  const tokens = Int32Array.from({ length }, (_, at) =>
    at < 9 ? 3 + at : 3 + ((at * 37 + row * 11) % (architectureVocabulary - 3)),
  );
  const targets = Int32Array.from({ length: length - 1 }, (_, at) => at + 1);
  return { tokens, targets, weights: Float32Array.from(targets, (at) => (at % 3 === 0 ? -0.02 : 0.03)) };
});

it.each(Object.entries(storedTypes))(
  'trains on %s as on the float32 values that it keeps',
  async (name, type) => {
    const file = path.join(folder, `${name}.gguf`);
    const decoded = path.join(folder, `${name}-decoded.gguf`);
    writeArchitectureGguf(file, 'llama', { seed: 5, stored: { type, decoded: false } });
    writeArchitectureGguf(decoded, 'llama', { seed: 5, stored: { type, decoded: true } });

    const a = await gradientOf(fileParams(file), rows);
    const b = await gradientOf(fileParams(decoded), rows);
    expect(Math.abs(a.loss - b.loss)).toBeLessThan(1e-6 * Math.abs(b.loss));
    for (const [tensor, values] of Object.entries(b.gradients)) {
      const other = a.gradients[tensor] ?? new Float32Array();
      const gap = Math.hypot(...values.map((value, index) => value - (other[index] ?? NaN)));
      expect(gap, tensor).toBeLessThanOrEqual(1e-5 * Math.hypot(...values));
    }

    const scored = await withTrainer(fileParams(file), (trainer) => trainer.score(rows, { adapters: false }));
    const gap = async (model: string): Promise<number> => {
      const expected = await engineLogprobs(models.service, model, rows);
      const gaps = expected.flatMap((row, index) =>
        row.map((value, at) => Math.abs(value - (scored[index]?.[at] ?? NaN))),
      );
      expect(gaps).toHaveLength(29 + 29 + 20);
      return gaps.reduce((sum, value) => sum + value, 0) / gaps.length;
    };
    // On the decoded file both engines compute in float32 (keys and values in half precision there).
    expect(await gap(decoded)).toBeLessThan(1e-3);
    // On the file itself llama.cpp rounds what it multiplies with: to halves, or to blocks of 8 bits.
    expect(await gap(file)).toBeLessThan(name === 'F16' ? 1e-3 : name === 'BF16' ? 1e-2 : 4e-2);
  },
  60_000,
);
