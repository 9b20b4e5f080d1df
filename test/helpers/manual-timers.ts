/** Timers that run when a test says so, on the same clock as the code under test. */
import type { Timers } from '#core/jobs/timers.ts';
import type { fixedClock } from '#test/helpers/store-records.ts';

export interface ManualTimers extends Timers {
  /** Moves the clock and runs what becomes due, in order. */
  advance(ms: number): void;
}

export function manualTimers(clock: ReturnType<typeof fixedClock>): ManualTimers {
  const entries = new Set<{ due: number; period: number | null; work: () => void }>();
  function add(delay: number, period: number | null, work: () => void): () => void {
    const entry = { due: clock.now() + delay, period, work };
    entries.add(entry);
    return () => entries.delete(entry);
  }
  return {
    after: (delayMs, work) => add(delayMs, null, work),
    every: (periodMs, work) => add(periodMs, periodMs, work),
    advance(ms) {
      const end = clock.now() + ms;
      for (;;) {
        const next = [...entries].filter((entry) => entry.due <= end).sort((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        clock.advance(Math.max(0, next.due - clock.now()));
        if (next.period === null) entries.delete(next);
        else next.due += next.period;
        next.work();
      }
      clock.advance(end - clock.now());
    },
  };
}

/** Lets promises settle. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
