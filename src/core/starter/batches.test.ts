import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createBatchReader, firstBatch } from './batches.ts';
import type { BatchCursor } from './batches.ts';
import { openShards, writeShard } from './shards.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'daydream-batches-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Document `n` of all says its number twice after `<s>`; every third one has a word that is only read. */
function documentOf(n: number) {
  const ids = Uint16Array.of(1, n, n, 7);
  return {
    kind: 'errand' as const,
    encoded: { ids, weights: Uint8Array.of(0, 100, n % 3 === 0 ? 0 : 30, 30) },
  };
}
const counts = [5, 1, 8];
let manifest = openShards(folder, 'test');
let made = 0;
for (const count of counts) {
  const documents = Array.from({ length: count }, (_, index) => documentOf(100 + made + index));
  made += count;
  manifest = writeShard(folder, manifest, documents, { nextIndex: made, skipped: 0 });
}
const reader = createBatchReader(folder, manifest, { seed: 1, tokensOfBatch: 10 });

function numbersFrom(cursor: BatchCursor, batches: number): { numbers: number[]; next: BatchCursor } {
  const numbers: number[] = [];
  let next = cursor;
  for (let index = 0; index < batches; index += 1) {
    const batch = reader.at(next);
    numbers.push(...batch.rows.map(({ tokens }) => tokens[1] ?? -1));
    next = batch.next;
  }
  return { numbers, next };
}

it('gives each document once an epoch, each epoch in another order', () => {
  const { numbers } = numbersFrom(firstBatch, 14);
  expect(numbers).toHaveLength(42);
  const epochs = [0, 1, 2].map((epoch) => numbers.slice(epoch * 14, (epoch + 1) * 14));
  const all = Array.from({ length: 14 }, (_, index) => 100 + index);
  for (const epoch of epochs) expect(epoch.toSorted((a, b) => a - b)).toEqual(all);
  expect(epochs[0]).not.toEqual(all);
  expect(epochs[0]).not.toEqual(epochs[1]);
  expect(epochs[1]).not.toEqual(epochs[2]);
});

it('goes on from where it stood, also in another reader', () => {
  const whole = numbersFrom(firstBatch, 9);
  const start = numbersFrom(firstBatch, 4);
  expect([...start.numbers, ...numbersFrom(start.next, 5).numbers]).toEqual(whole.numbers);
  const other = createBatchReader(folder, manifest, { seed: 1, tokensOfBatch: 10 });
  expect(other.at(start.next)).toEqual(reader.at(start.next));
  expect(createBatchReader(folder, manifest, { seed: 2, tokensOfBatch: 10 }).at(firstBatch)).not.toEqual(
    reader.at(firstBatch),
  );
});

it('shares the loss of a batch among its targets by their weights', () => {
  const { rows, tokens } = reader.at(firstBatch);
  expect(tokens).toBe(12);
  expect(
    rows.reduce((sum, { weights }) => sum + weights.reduce((part, weight) => part + weight, 0), 0),
  ).toBeCloseTo(1);
  for (const { tokens: ids, targets, weights } of rows) {
    const isThird = (ids[1] ?? 0) % 3 === 0;
    expect([...targets]).toEqual(isThird ? [1, 3] : [1, 2, 3]);
    expect((weights[0] ?? 0) / (weights.at(-1) ?? 1)).toBeCloseTo(100 / 30);
  }
});

it('says so when there is no text yet', () => {
  const empty = openShards(path.join(folder, 'empty'), 'test');
  expect(() => createBatchReader(path.join(folder, 'empty'), empty, { seed: 1, tokensOfBatch: 10 })).toThrow(
    'Generate some first',
  );
});
