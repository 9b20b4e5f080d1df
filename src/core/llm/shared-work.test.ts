import { expect, test } from 'vitest';
import { SharedWork, unlessAborted } from './shared-work.ts';

/** Work that ends by hand or by its own signal. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let ends = 0;
  let signal: AbortSignal | null = null;
  const shared = new SharedWork<string>(
    (own) => {
      signal = own;
      own.addEventListener('abort', () => {
        reject(own.reason as Error);
      });
      return promise;
    },
    () => (ends += 1),
  );
  return { shared, resolve, ends: () => ends, aborted: () => signal?.aborted };
}

test('one waiter’s abort is its own: the other gets the result', async () => {
  const { shared, resolve, ends, aborted } = work();
  const leaving = new AbortController();
  const first = shared.wait(leaving.signal);
  const second = shared.wait(new AbortController().signal);
  leaving.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  expect([aborted(), ends()]).toEqual([false, 0]);
  resolve('done');
  expect(await second).toBe('done');
  expect(ends()).toBe(1);
});

test('work that all have left is aborted, and ends once', async () => {
  const { shared, ends, aborted } = work();
  const leaving = new AbortController();
  const both = [shared.wait(leaving.signal), shared.wait(leaving.signal)];
  leaving.abort(new Error('left'));
  await expect(Promise.allSettled(both)).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  await Promise.resolve();
  expect([aborted(), ends()]).toEqual([true, 1]);
});

test('a wait with an aborted signal ends at once, even if the work fails later', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  await expect(unlessAborted(promise, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  reject(new Error('nobody hears this'));
});
