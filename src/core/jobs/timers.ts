/** Waiting is an input, like the clock: tests fire the timers by hand. Both return a function that stops the timer. */
export interface Timers {
  after(delayMs: number, work: () => void): () => void;
  every(periodMs: number, work: () => void): () => void;
}

export const realTimers: Timers = {
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
  every(periodMs, work) {
    const timer = setInterval(work, periodMs);
    // A renewal does not keep the process alive: a host ends when it wants to, not when a lease is due.
    timer.unref();
    return () => {
      clearInterval(timer);
    };
  },
};
