/** What is told before a load against what llama.cpp says it took. Bytes. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getLlama } from 'node-llama-cpp';
import type { Llama } from 'node-llama-cpp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LoadedModel } from '#workers/inference/loaded-model.ts';
import { vocabularySize } from '#workers/inference/vocabulary.ts';
import { hasAmx } from '#core/llm/amx.ts';
import { estimateFit } from '#core/llm/fit.ts';
import { readGguf } from '#core/llm/gguf/read-gguf.ts';
import { writeRandomGguf } from '#core/llm/random-gguf.ts';
import { starterModelFile } from '#core/resources.ts';
import { pretrainedFile } from '#test/helpers/pretrained.ts';

const folder = mkdtempSync(join(tmpdir(), 'daydream-memory-'));
const random = join(folder, 'random-weights-memory.gguf');
let llama: Llama;

beforeAll(async () => {
  writeRandomGguf(random, { seed: 1, layers: 4, dim: 128, contextLength: 8192 });
  llama = await getLlama({ gpu: false, maxThreads: 1, build: 'never', skipDownload: true });
});
afterAll(async () => {
  await llama.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Estimate over what llama.cpp counts, for one load. */
async function ratios(file: string, contextTokens: number, sequences: number) {
  const model = await llama.loadModel({ modelPath: file });
  try {
    const params = {
      loadId: 'memory',
      file,
      architecture: 'llama',
      adapters: [],
      contextTokens,
      sequences,
      threads: 1,
    };
    const loaded = await LoadedModel.open(llama, model, params, (work) => work(), {
      keyValueType: 'F16',
      warn: () => undefined,
    });
    const { modelBytes, contextBytes } = loaded.info;
    await loaded.dispose();
    const request = {
      contextTokens,
      sequences,
      vocabularySize: vocabularySize(model),
      availableBytes: 2 ** 40,
      amx: hasAmx(),
    };
    const fit = estimateFit(readGguf(file), request);
    return {
      weights: (fit.weightsBytes + fit.copiedBytes) / modelBytes,
      context: (fit.kvCacheBytes + fit.computeBytes) / contextBytes,
    };
  } finally {
    await model.dispose();
  }
}

const loads = [
  { contextTokens: 512, sequences: 1 },
  { contextTokens: 1024, sequences: 8 },
  { contextTokens: 4096, sequences: 32 },
  { contextTokens: 8192, sequences: 2 },
];

it.each(loads)(
  'estimates $sequences × $contextTokens tokens of the random model',
  async ({ contextTokens, sequences }) => {
    const { weights, context } = await ratios(random, contextTokens, sequences);
    expect(weights).toBeCloseTo(1, 1);
    expect(context).toBeGreaterThan(0.95);
    expect(context).toBeLessThan(1.1);
  },
);

it('estimates the bundled model, whose matrices are F16', async () => {
  const { weights } = await ratios(starterModelFile(), 512, 1);
  expect(weights).toBeGreaterThan(0.95);
  expect(weights).toBeLessThan(1.05);
});

it.skipIf(!existsSync(pretrainedFile)).each(loads)(
  'estimates $sequences × $contextTokens tokens of Gemma 3 270M, whose vocabulary is most of it',
  async ({ contextTokens, sequences }) => {
    const { weights, context } = await ratios(pretrainedFile, contextTokens, sequences);
    expect(weights).toBeGreaterThan(0.9);
    expect(weights).toBeLessThan(1.1);
    expect(context).toBeGreaterThan(0.95);
    expect(context).toBeLessThan(1.1);
  },
);
