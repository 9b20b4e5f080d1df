import { expect, test } from 'vitest';
import { Decoder } from './decoder.ts';
import type { NativeContext } from './native.ts';
import { PromptCache } from './session.ts';
import { Slots } from './slots.ts';

test('a copy that fails leaves an empty sequence, and is told of once, with the number at the end', async () => {
  const disposed: number[] = [];
  const context: NativeContext = {
    initBatch: () => undefined,
    addToBatch: () => new Uint32Array(),
    decodeBatch: () => Promise.resolve(),
    sampleToken: () => Promise.resolve([0, undefined, undefined]),
    removeTokenCellsFromSequence: () => true,
    disposeSequence: (sequence) => disposed.push(sequence),
    setThreads: () => undefined,
    saveSequenceStateToFile: () => Promise.resolve(0),
    loadSequenceStateFromFile: () => Promise.reject(new Error('no space left')),
    getMemoryBreakdown: () => ({ cpuRam: 0, gpuVram: 0 }),
  };
  const decoder = new Decoder(context, { batchSize: 8, turnstile: (work) => work() });
  const slots = new Slots(2);
  const warnings: string[] = [];
  const cache = new PromptCache(context, decoder, slots, (text) => warnings.push(text));
  const [from, to] = slots.all;
  if (from === undefined || to === undefined) throw new Error('two slots');
  from.tokens = [1, 2, 3];
  for (let times = 0; times < 3; times += 1) {
    to.tokens = [9];
    expect(await cache.copy(from, to)).toBe(false);
    expect([from.tokens, to.tokens]).toEqual([[1, 2, 3], []]);
  }
  expect(disposed).not.toContain(from.sequence);
  expect(warnings).toEqual([expect.stringMatching(/could not be copied .*: no space left\. Prompts are/u)]);
  cache.close();
  expect(warnings[1]).toBe('Copies of a KV cache that failed: 3.');
});
