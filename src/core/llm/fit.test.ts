import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { estimateFit, refuseIfTooLarge } from './fit.ts';
import { readGguf } from './gguf/read-gguf.ts';
import type { GgufHeader } from './gguf/read-gguf.ts';
import { writeRandomGguf } from './random-gguf.ts';
import { chooseThreads } from './service.ts';
import { testModelService } from '#test/helpers/model-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'daydream-fit-'));
const file = join(folder, 'random-weights-fit.gguf');
let header: GgufHeader;

beforeAll(() => {
  writeRandomGguf(file, { seed: 3, contextLength: 10_000_000 });
  header = readGguf(file);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const gigabyte = 1024 ** 3;

it('counts the KV cache as keys and values of each layer in half precision', () => {
  const fit = estimateFit(header, {
    contextTokens: 1024,
    sequences: 4,
    vocabularySize: 1017,
    availableBytes: gigabyte,
    amx: false,
  });
  // 2 layers × 2 heads × (32 + 32) × 2 bytes × 4,096 cells
  expect(fit.kvCacheBytes).toBe(2 * 2 * 64 * 2 * 4096);
  expect(fit.fits).toBe(true);
  expect(fit.advice).toBe('');
});

it('says which context would fit when the wanted one does not', () => {
  const wanted = {
    contextTokens: 4_000_000,
    sequences: 4,
    vocabularySize: 1017,
    availableBytes: gigabyte,
    amx: false,
  };
  const fit = estimateFit(header, wanted);
  expect(fit.fits).toBe(false);
  const tokens = Number(/context of (\d+) tokens/.exec(fit.advice)?.[1]);
  expect(estimateFit(header, { ...wanted, contextTokens: tokens }).fits).toBe(true);
  expect(() => {
    refuseIfTooLarge(fit, 'a model');
  }).toThrow(/It was not loaded/);
});

it('counts apart what AMX keeps once more: whole tiles of matrices that are multiplied, in the types that it knows', () => {
  const tensor = (name: string, type: number, shape: number[], bytes: number) => ({
    name,
    type,
    shape,
    bytes,
    offset: 0,
  });
  const tied = [
    tensor('token_embd.weight', 8, [64, 96], 6528),
    tensor('blk.0.attn_norm.weight', 0, [64], 256),
    tensor('blk.0.attn_q.weight', 12, [256, 32], 4608),
    tensor('blk.0.attn_k.weight', 6, [64, 32], 1408), // Q5_0 has no tiles
    tensor('blk.0.attn_v.weight', 8, [64, 8], 544), // nor have 8 rows
    tensor('blk.0.ffn_up.weight', 1, [64, 32], 4096),
  ];
  const copied = (tensors: GgufHeader['tensors'], amx: boolean) => {
    const request = { contextTokens: 256, sequences: 1, vocabularySize: 96, availableBytes: gigabyte, amx };
    const { copiedBytes, weightsBytes, totalBytes, kvCacheBytes, computeBytes } = estimateFit(
      { ...header, tensors },
      request,
    );
    expect(totalBytes).toBe(weightsBytes + kvCacheBytes + computeBytes);
    return copiedBytes;
  };
  // Q8_0: 38 bytes for 34; Q4_K: 148 for 144.
  expect(copied(tied, true)).toBe((6528 / 34) * 38 + (4608 / 144) * 148 + 4096);
  expect(copied([...tied, tensor('output.weight', 8, [64, 96], 6528)], true)).toBe(copied(tied, true));
  expect(copied(tied, false)).toBe(0);
});

it('advises a smaller model when the weights alone are too large', () => {
  const fit = estimateFit(header, {
    contextTokens: 256,
    sequences: 1,
    vocabularySize: 1017,
    availableBytes: 1024,
    amx: false,
  });
  expect(fit.advice).toMatch(/smaller model/);
});

it('refuses a load before anything is allocated', async () => {
  const { service, children } = testModelService();
  const model = await service.resolve(file);
  const load = service.load(model, {
    adapters: [],
    contextTokens: 10_000_000,
    sequences: 256,
    threads: 1,
    format: 'auto',
  });
  await expect(load).rejects.toMatchObject({ code: 'MODEL_OUT_OF_MEMORY' });
  expect(children).toHaveLength(0);
  await service.dispose();
});

it('chooses the fewest threads within five per cent of the best', () => {
  expect(
    chooseThreads([
      { threads: 1, tokensPerSecond: 37 },
      { threads: 2, tokensPerSecond: 38 },
    ]),
  ).toBe(1);
  expect(
    chooseThreads([
      { threads: 1, tokensPerSecond: 20 },
      { threads: 2, tokensPerSecond: 39 },
      { threads: 3, tokensPerSecond: 38.5 },
    ]),
  ).toBe(2);
});
