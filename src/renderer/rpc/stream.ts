import { useEffect, useEffectEvent } from 'react';
import { isAborted } from './errors.ts';

/** Waits `ms`, or less when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Follows a stream of the host for as long as the component is mounted and `key` stays the same. A broken stream is opened again
 * (`open` is asked anew, so it can continue after the last thing seen); one that ends by itself is finished and stays closed.
 */
export function useStream<Message>(options: {
  /** null: follow nothing. */
  key: string | null;
  open: (signal: AbortSignal) => Promise<AsyncIterable<Message>>;
  onMessage: (message: Message) => void;
  onEnd?: () => void;
}): void {
  const open = useEffectEvent(options.open);
  const onMessage = useEffectEvent(options.onMessage);
  const onEnd = useEffectEvent(() => options.onEnd?.());
  const { key } = options;
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    const follow = async () => {
      let failures = 0;
      while (!stop.signal.aborted) {
        try {
          for await (const message of await open(stop.signal)) {
            if (stop.signal.aborted) return;
            failures = 0;
            onMessage(message);
          }
          if (!stop.signal.aborted) onEnd();
          return;
        } catch (thrown) {
          if (isAborted(thrown) && stop.signal.aborted) return;
          failures += 1;
          await pause(Math.min(5000, 250 * 2 ** failures), stop.signal);
        }
      }
    };
    void follow();
    return () => {
      stop.abort();
    };
  }, [key]);
}
