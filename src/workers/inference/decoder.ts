/**
 * The batch loop: everything that wants tokens evaluated queues here, and each turn packs as many sequences as fit into one
 * llama.cpp batch. Single tokens of running generations go first, then prompts in order of arrival, so that many episodes
 * advance together and a long prompt never starves them. Between two turns nothing touches the context.
 */
import type { NativeContext } from './native.ts';

export interface DecodeRequest {
  sequence: number;
  /** Position of the first token. */
  start: number;
  tokens: readonly number[];
  /** Which of `tokens` need logits, ascending. */
  rows: readonly number[];
  /** Called while the logits are alive; `row` addresses them. */
  onRow?(index: number, row: number): Promise<void> | void;
  signal?: AbortSignal | undefined;
}

interface Pending extends DecodeRequest {
  done: number;
  committed(count: number): void;
  resolve(): void;
  reject(reason: unknown): void;
}

/** One turn at a time over all loaded models, so that two of them never run ggml threads at once. */
export type Turnstile = <Result>(work: () => Promise<Result>) => Promise<Result>;

export class Decoder {
  readonly #context: NativeContext;
  readonly #batchSize: number;
  readonly #turnstile: Turnstile;
  #pending: Pending[] = [];
  #exclusive: (() => Promise<void>)[] = [];
  #running = false;
  #closed: Error | null = null;
  /** Evaluated since the start, prompt and completion tokens alike. */
  evaluated = 0;
  batches = 0;

  constructor(context: NativeContext, options: { batchSize: number; turnstile: Turnstile }) {
    this.#context = context;
    this.#batchSize = options.batchSize;
    this.#turnstile = options.turnstile;
  }

  /** Resolves when all tokens are in the cache. `committed` hears of each part as soon as it is there. */
  decode(request: DecodeRequest, committed: (count: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ ...request, done: 0, committed, resolve, reject });
      this.#start();
    });
  }

  /** Runs `work` between two batches. */
  exclusive<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#exclusive.push(async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      this.#start();
    });
  }

  close(reason: Error): void {
    this.#closed = reason;
    this.#start();
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#loop().finally(() => {
      this.#running = false;
      if (this.#pending.length > 0 || this.#exclusive.length > 0) this.#start();
    });
  }

  async #loop(): Promise<void> {
    for (;;) {
      // Let every continuation of the last batch queue its next token: they then share one batch.
      await new Promise((resolve) => setImmediate(resolve));
      this.#dropAborted();
      if (this.#pending.length === 0 && this.#exclusive.length === 0) return;
      await this.#turnstile(async () => {
        const waiting = this.#exclusive.splice(0);
        for (const work of waiting) await work();
        await this.#turn();
      });
    }
  }

  #dropAborted(): void {
    this.#pending = this.#pending.filter((request) => {
      if (this.#closed !== null) request.reject(this.#closed);
      else if (request.signal?.aborted === true) request.reject(request.signal.reason);
      else return true;
      return false;
    });
  }

  async #turn(): Promise<void> {
    this.#dropAborted();
    const parts = planBatch(this.#pending, this.#batchSize);
    if (parts.length === 0) return;
    const total = parts.reduce((sum, part) => sum + part.count, 0);
    let placed: PlacedPart[];
    try {
      this.#context.initBatch(total);
      placed = parts.map((part) => this.#place(part));
      await this.#context.decodeBatch();
    } catch (error) {
      for (const { request } of parts) this.#fail(request, error);
      return;
    }
    this.batches += 1;
    this.evaluated += total;
    for (const { request, count } of parts) {
      request.done += count;
      request.committed(count);
    }
    const read = (part: PlacedPart): Promise<void> =>
      readRows(part).catch((error: unknown) => {
        this.#fail(part.request, error);
      });
    // llama.cpp puts the batch's logits in order at the first look at them, without a lock: a second thread that looked
    // meanwhile would read another conversation's row. So the first one is read alone.
    const [first, ...rest] = placed.filter(({ rows }) => rows.length > 0);
    if (first !== undefined) await read(first);
    await Promise.all(rest.map(read));
    this.#pending = this.#pending.filter((request) => {
      if (request.done < request.tokens.length) return true;
      request.resolve();
      return false;
    });
  }

  #fail(request: Pending, reason: unknown): void {
    this.#pending = this.#pending.filter((other) => other !== request);
    request.reject(reason);
  }

  #place(part: BatchPart): PlacedPart {
    const { request, count } = part;
    const from = request.done;
    const rows = request.rows.filter((row) => row >= from && row < from + count);
    const batchRows = this.#context.addToBatch(
      request.sequence,
      request.start + from,
      Uint32Array.from(request.tokens.slice(from, from + count)),
      Uint32Array.from(rows, (row) => row - from),
    );
    return { request, rows, batchRows };
  }
}

interface BatchPart {
  request: Pending;
  count: number;
}

interface PlacedPart {
  request: Pending;
  rows: readonly number[];
  batchRows: Uint32Array;
}

async function readRows(part: PlacedPart): Promise<void> {
  for (const [index, row] of part.rows.entries()) {
    const batchRow = part.batchRows[index];
    if (batchRow === undefined) throw new RangeError('the batch lost a logit row');
    await part.request.onRow?.(row, batchRow);
  }
}

/** Shortest remainders first: they are running generations; then prompts in order of arrival. */
function planBatch(pending: readonly Pending[], batchSize: number): BatchPart[] {
  const single = (request: Pending): boolean => request.tokens.length - request.done === 1;
  const order = [...pending.filter(single), ...pending.filter((request) => !single(request))];
  const parts: BatchPart[] = [];
  let free = batchSize;
  for (const request of order) {
    const count = Math.min(request.tokens.length - request.done, free);
    if (count === 0) break;
    free -= count;
    parts.push({ request, count });
  }
  return parts;
}
