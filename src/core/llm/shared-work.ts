/** Work that several wait for: an abort is one waiter's own, never another's. */

/** `work`, or the signal's reason as soon as it aborts; the work itself goes on. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}

/** Runs on a signal of its own, which aborts when the last waiter has left before the end. */
export class SharedWork<T> {
  readonly #controller = new AbortController();
  readonly #result: Promise<T>;
  #waiters = 0;
  /** null once called. */
  #onEnd: (() => void) | null;

  /** @param onEnd called once, when the work is done, failed or left by all; whoever comes later must start anew */
  constructor(work: (signal: AbortSignal) => Promise<T>, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#result = work(this.#controller.signal).finally(() => {
      this.#end();
    });
    // Nobody may be waiting when it fails.
    this.#result.catch(() => undefined);
  }

  async wait(signal: AbortSignal | undefined): Promise<T> {
    this.#waiters += 1;
    try {
      return await unlessAborted(this.#result, signal);
    } finally {
      this.#waiters -= 1;
      if (this.#waiters === 0 && signal?.aborted === true && this.#onEnd !== null) {
        this.#end();
        this.#controller.abort(signal.reason);
      }
    }
  }

  #end(): void {
    this.#onEnd?.();
    this.#onEnd = null;
  }
}
