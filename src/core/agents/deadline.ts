/** A time limit for work that waits for a model or an environment: a model that never answers must not stop a run for ever. */
import { AppError } from '#shared/errors.ts';

/**
 * Runs `work` with a signal that the caller's abort and the clock both raise. What the work throws after its time has passed becomes
 * TIMEOUT, an infrastructure failure; the caller's own abort stays what it is. The work must honour its signal.
 *
 * @param limit `ms` is `limits.episodeTimeoutMs`; `what` and `kept` are words of the message: `The reflection` took too long,
 *   `Its steps are kept`
 */
export async function withDeadline<Result>(
  {
    what,
    kept = 'What was finished before is kept',
    ms,
    signal,
  }: { what: string; kept?: string; ms: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (thrown) {
    if (signal.aborted || !timeout.aborted) throw thrown;
    throw new AppError({
      code: 'TIMEOUT',
      message: `${what} took longer than ${String(ms)} ms. ${kept}; raise limits.episodeTimeoutMs.`,
      cause: thrown,
    });
  }
}
