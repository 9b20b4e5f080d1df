import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runPool } from '#core/agents/pool.ts';

const never = new AbortController().signal;

test('runs everything once, never more than `parallel` at a time', async () => {
  let running = 0;
  let most = 0;
  const seen: number[] = [];
  const items = Array.from({ length: 20 }, (_, index) => index);
  const started = await runPool(items, { parallel: 3, signal: never }, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
    seen.push(item);
  });
  expect([started, most, seen.sort((a, b) => a - b)]).toEqual([20, 3, items]);
});

test('a failure stops new work, aborts what runs, and is the one that is thrown', async () => {
  const aborted: boolean[] = [];
  const work = async (item: number, signal: AbortSignal) => {
    if (item === 1) throw new Error('first');
    await sleep(1000, undefined, { signal }).catch(() => aborted.push(signal.aborted));
    throw new Error('echo');
  };
  await expect(runPool([0, 1, 2, 3], { parallel: 2, signal: never }, work)).rejects.toThrow('first');
  expect(aborted).toEqual([true]);
});

test('tells that a failed item has ended too', async () => {
  const active: number[] = [];
  const options = { parallel: 1, signal: never, onActive: (count: number) => active.push(count) };
  await expect(runPool([0], options, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(active).toEqual([1, 0]);
});

test('a pause lets what runs finish and starts nothing new', async () => {
  let stop = false;
  const done: number[] = [];
  const started = await runPool(
    [0, 1, 2, 3],
    { parallel: 1, signal: never, shouldStop: () => stop },
    async (item) => {
      await sleep(1);
      done.push(item);
      stop = item === 1;
    },
  );
  expect([started, done]).toEqual([2, [0, 1]]);
});
