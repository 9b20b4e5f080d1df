/** Tries work again after an infrastructure failure, by its code, with a wait that doubles. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppError } from '#shared/errors.ts';
import { isInfrastructureError, toAppError } from '#shared/errors.ts';

const FIRST_WAIT_MS = 500;

export async function withRetries<Result>(
  work: (attempt: number) => Promise<Result>,
  options: {
    retries: number;
    signal: AbortSignal;
    /** Called before the work is done again, with what broke it off. */
    onRetry?: (error: AppError) => void;
  },
): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (thrown) {
      const error = toAppError(thrown);
      const { code } = error;
      // A full disk does not empty itself in a second.
      const again = isInfrastructureError(code) && code !== 'DISK_FULL' && attempt < options.retries;
      if (!again || options.signal.aborted) throw thrown;
      // An abort during the wait is noticed by the work's own first check.
      await sleep(FIRST_WAIT_MS * 2 ** attempt, undefined, {
        signal: options.signal,
      }).catch(() => undefined);
      if (!options.signal.aborted) options.onRetry?.(error);
    }
  }
}
