/** How many heavy and light jobs may run at once. A job takes all its slots or none; who waits longest is served first. */
import type { SlotName } from '#core/jobs/port.ts';

export type SlotCapacity = Readonly<Record<SlotName, number>>;

export class SlotPool {
  readonly #capacity: SlotCapacity;
  readonly #used: Record<SlotName, number> = { compute: 0, light: 0 };
  readonly #waiting: { slots: readonly SlotName[]; grant: () => void }[] = [];

  constructor(capacity: SlotCapacity) {
    this.#capacity = capacity;
  }

  /** Slots are free and nobody waits for one of them: a run that gave its slots to a child comes before new jobs. */
  isFree(slots: readonly SlotName[]): boolean {
    return (
      this.#fits(slots) && !this.#waiting.some((entry) => entry.slots.some((slot) => slots.includes(slot)))
    );
  }

  take(slots: readonly SlotName[]): void {
    for (const slot of slots) this.#used[slot] += 1;
  }

  give(slots: readonly SlotName[]): void {
    for (const slot of slots) this.#used[slot] -= 1;
    this.#grantWaiting();
  }

  /** Rejects with the signal's reason. */
  async acquire(slots: readonly SlotName[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.isFree(slots)) {
      this.take(slots);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { slots, grant: resolve };
    function abort(): void {
      reject(signal.reason as Error);
    }
    this.#waiting.push(entry);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abort);
      const index = this.#waiting.indexOf(entry);
      if (index >= 0) this.#waiting.splice(index, 1);
    }
  }

  #fits(slots: readonly SlotName[]): boolean {
    return slots.every((slot) => this.#used[slot] < this.#capacity[slot]);
  }

  #grantWaiting(): void {
    for (const entry of [...this.#waiting]) {
      if (!this.#fits(entry.slots)) continue;
      this.#waiting.splice(this.#waiting.indexOf(entry), 1);
      this.take(entry.slots);
      entry.grant();
    }
  }
}
