/**
 * Which conversation sits in which sequence of the context. A session keeps its sequence between calls (its KV prefix is
 * never evaluated twice), the least recently used idle sequence gives way, and requests queue when all are busy.
 */
export interface Slot {
  readonly sequence: number;
  /** What the KV cache holds now. */
  tokens: number[];
  /** What it will hold when the running prompt is evaluated; others may wait for it and copy. */
  target: readonly number[];
  targetReady: Promise<void>;
  owner: string | null;
  busy: boolean;
  lastUsed: number;
}

export class Slots {
  readonly all: readonly Slot[];
  readonly #waiting: { sessionKey: string; grant(slot: Slot): void; signal: AbortSignal | undefined }[] = [];
  #clock = 0;

  constructor(count: number) {
    this.all = Array.from({ length: count }, (_, sequence) => ({
      sequence,
      tokens: [],
      target: [],
      targetReady: Promise.resolve(),
      owner: null,
      busy: false,
      lastUsed: 0,
    }));
  }

  get busyCount(): number {
    return this.all.filter((slot) => slot.busy).length;
  }

  /** The session's own sequence, else a free one whose cache starts like `prompt`, else the least recently used. */
  async acquire(sessionKey: string, prompt: readonly number[], signal?: AbortSignal): Promise<Slot> {
    signal?.throwIfAborted();
    const slot = this.#waiting.length === 0 ? this.#choose(sessionKey, prompt) : null;
    if (slot !== null) return this.#take(slot, sessionKey);
    return new Promise((resolve, reject) => {
      const entry = {
        sessionKey,
        signal,
        grant: (granted: Slot) => {
          signal?.removeEventListener('abort', abort);
          resolve(this.#take(granted, sessionKey));
        },
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(entry);
    });
  }

  /** Idle sequences that no session will come back to; at most `count`, none while requests wait. */
  acquireSpare(sessionKey: string, count: number): Slot[] {
    if (this.#waiting.length > 0 || count <= 0) return [];
    const spare = this.all.filter((slot) => !slot.busy && slot.owner === null).slice(0, count);
    return spare.map((slot) => this.#take(slot, sessionKey));
  }

  /** `keep`: the session may come back to this cache. */
  release(slot: Slot, keep: boolean): void {
    slot.busy = false;
    slot.target = slot.tokens;
    if (!keep) slot.owner = null;
    const next = this.#waiting.findIndex((entry) => this.#choose(entry.sessionKey, []) !== null);
    if (next < 0) return;
    const [entry] = this.#waiting.splice(next, 1);
    const chosen = entry === undefined ? null : this.#choose(entry.sessionKey, []);
    if (entry !== undefined && chosen !== null) entry.grant(chosen);
  }

  endSession(sessionKey: string): boolean {
    const slots = this.all.filter((slot) => slot.owner === sessionKey && !slot.busy);
    for (const slot of slots) slot.owner = null;
    return slots.length > 0;
  }

  /** The sequence that holds, or will hold, the longest beginning of `prompt`. */
  bestDonor(prompt: readonly number[], except: Slot): { slot: Slot; length: number } | null {
    let best: { slot: Slot; length: number } | null = null;
    for (const slot of this.all) {
      if (slot === except) continue;
      const length = Math.max(commonPrefix(slot.tokens, prompt), commonPrefix(slot.target, prompt));
      if (length > (best?.length ?? 0)) best = { slot, length };
    }
    return best;
  }

  #choose(sessionKey: string, prompt: readonly number[]): Slot | null {
    const idle = this.all.filter((slot) => !slot.busy);
    const own = idle.find((slot) => slot.owner === sessionKey);
    if (own !== undefined) return own;
    const free = idle.filter((slot) => slot.owner === null);
    const byPrefix = (a: Slot, b: Slot): number =>
      commonPrefix(b.tokens, prompt) - commonPrefix(a.tokens, prompt) || a.lastUsed - b.lastUsed;
    return free.toSorted(byPrefix)[0] ?? idle.toSorted((a, b) => a.lastUsed - b.lastUsed)[0] ?? null;
  }

  #take(slot: Slot, sessionKey: string): Slot {
    this.#clock += 1;
    slot.busy = true;
    slot.owner = sessionKey;
    slot.lastUsed = this.#clock;
    return slot;
  }
}

export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length += 1;
  return length;
}
