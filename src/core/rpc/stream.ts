/** Turns "something changed" into a stream of at most one message an interval: bursts are merged, the last one is never lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toRpcError } from '#core/rpc/base.ts';

export interface ChangesOptions {
  subscribe(onChange: () => void): () => void;
  intervalMs: number;
  signal: AbortSignal | undefined;
}

/** Yields at once, then after each change, never faster than `intervalMs`. Ends quietly on abort. */
export async function* changes({ subscribe, intervalMs, signal }: ChangesOptions): AsyncGenerator<undefined> {
  let dirty = true;
  let wake: () => void = () => undefined;
  const onChange = () => {
    dirty = true;
    wake();
  };
  const unsubscribe = subscribe(onChange);
  const onAbort = () => wake();
  signal?.addEventListener('abort', onAbort);
  try {
    while (signal?.aborted !== true) {
      if (!dirty) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      dirty = false;
      yield undefined;
      await sleep(intervalMs, undefined, { signal: signal ?? undefined, ref: false }).catch(() => undefined);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** An error inside a stream reaches the client as the same typed error that a plain call would give. */
export async function* typedErrors<Value>(source: AsyncIterable<Value>): AsyncGenerator<Value, void, void> {
  try {
    for await (const value of source) yield value;
  } catch (thrown) {
    throw toRpcError(thrown);
  }
}
