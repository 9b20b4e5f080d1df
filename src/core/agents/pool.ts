/** Bounded parallel work over a list. One failure stops the start of new work, aborts what runs, and is thrown. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface PoolOptions {
  parallel: number;
  signal: AbortSignal;
  /** Asked before each start: true starts nothing new and lets what runs finish (pause). */
  shouldStop?: () => boolean;
  /** Told how many items run, when one starts or ends. */
  onActive?: (active: number) => void;
}

/** Resolves to the number of items started; fewer than given means that `shouldStop` said so. */
export async function runPool<Item>(
  items: readonly Item[],
  options: PoolOptions,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  let next = 0;
  let active = 0;
  const count = (change: 1 | -1): void => {
    active += change;
    options.onActive?.(active);
  };
  let error: { thrown: unknown } | null = null;
  const lane = async (): Promise<void> => {
    while (error === null && !options.signal.aborted && options.shouldStop?.() !== true) {
      const index = next;
      const item = items[index];
      if (index >= items.length || item === undefined) return;
      next += 1;
      // Work without a model never waits for anything: without this turn a solver's thousand episodes would starve timers,
      // signals and RPC until the last one is done.
      await nextTurn();
      try {
        count(1);
        await work(item, signal);
      } catch (thrown) {
        // The first failure is the cause; later ones are its echo.
        error ??= { thrown };
        failure.abort();
      } finally {
        count(-1);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.parallel, items.length) }, lane));
  if (error !== null) throw (error as { thrown: unknown }).thrown;
  options.signal.throwIfAborted();
  return next;
}
