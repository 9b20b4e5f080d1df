/** What is told before a load against what llama.cpp says it took. Bytes. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getLlama } from 'node-llama-cpp';
import type { Llama } from 'node-llama-cpp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LoadedModel } from '#workers/inference/loaded-model.ts';
import { vocabularySize } from '#workers/inference/vocabulary.ts';
import { estimateFit } from '#core/llm/fit.ts';
import { readGguf } from '#core/llm/gguf/read-gguf.ts';
import { writeRandomGguf } from '#core/llm/random-gguf.ts';
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

/**
 * Where the processor has AMX, ggml keeps a second copy of quantised matrices in its order, beside the mapped file, and counts both. The
 * estimate does not know the processor: the file's pages can be dropped, but until then they are there (docs/log.md).
 */
const hasAmx = existsSync('/proc/cpuinfo') && /\bamx_int8\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
/** ggml’s numbers of F32, F16 and BF16. */
const unquantised: readonly number[] = [0, 1, 30];

/** Estimate over reality, for one load. */
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
    };
    const header = readGguf(file);
    const fit = estimateFit(header, request);
    const copied = header.tensors.filter(({ type }) => hasAmx && !unquantised.includes(type));
    const copies = copied.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
    return {
      weights: (fit.weightsBytes + copies) / modelBytes,
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
