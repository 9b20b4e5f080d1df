/**
 * Who hears of a job's changes. Changes are collected inside a transaction and told after it is committed: a listener never hears
 * of something that a rollback took back.
 */
import type { Logger } from '#core/ports.ts';
import type { Store } from '#core/store/port.ts';
import { AppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';

export interface JobChangeMessage {
  job: Job;
  event: JobEvent | null;
}
type Listener = (change: JobChangeMessage) => void;

interface Waiter {
  isDone: (job: Job) => boolean;
  resolve: (job: Job) => void;
  reject: (error: Error) => void;
}

export class Changes {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #listeners = new Set<Listener>();
  readonly #waiters = new Map<JobId, Set<Waiter>>();
  #outbox: JobChangeMessage[] = [];
  #depth = 0;
  #closed = false;

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  get inTransaction(): boolean {
    return this.#depth > 0;
  }

  /** Inside `transaction` only. */
  add(job: Job, events: readonly JobEvent[] = []): void {
    if (events.length === 0) this.#outbox.push({ job, event: null });
    for (const event of events) this.#outbox.push({ job, event });
  }

  transaction<Result>(work: () => Result): Result {
    const mark = this.#outbox.length;
    this.#depth += 1;
    let result: Result;
    try {
      result = this.#store.transaction(work);
    } catch (error) {
      this.#outbox.length = mark;
      throw error;
    } finally {
      this.#depth -= 1;
    }
    if (this.#depth === 0) this.#deliver();
    return result;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves at once when `current` is done already. Rejects with the signal's reason. */
  async wait(current: Job, isDone: (job: Job) => boolean, signal?: AbortSignal): Promise<Job> {
    signal?.throwIfAborted();
    if (isDone(current)) return current;
    if (this.#closed) throw closing();
    const { promise, resolve, reject } = Promise.withResolvers<Job>();
    const waiter: Waiter = { isDone, resolve, reject };
    function abort(): void {
      reject(signal?.reason as Error);
    }
    const own = this.#waiters.get(current.jobId) ?? new Set();
    own.add(waiter);
    this.#waiters.set(current.jobId, own);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      own.delete(waiter);
      if (own.size === 0 && this.#waiters.get(current.jobId) === own) this.#waiters.delete(current.jobId);
    }
  }

  /** Asks the waiters of this job again, e.g. after a pause request on its parent. */
  recheck(job: Job): void {
    for (const waiter of [...(this.#waiters.get(job.jobId) ?? [])])
      if (waiter.isDone(job)) waiter.resolve(job);
  }

  rejectWaiters(jobId: JobId, error: Error): void {
    for (const waiter of [...(this.#waiters.get(jobId) ?? [])]) waiter.reject(error);
  }

  close(): void {
    this.#closed = true;
    for (const jobId of [...this.#waiters.keys()]) this.rejectWaiters(jobId, closing());
    this.#listeners.clear();
  }

  #deliver(): void {
    const messages = this.#outbox;
    this.#outbox = [];
    for (const message of messages) {
      for (const listener of [...this.#listeners]) {
        try {
          listener(message);
        } catch (error) {
          this.#log.error({ jobId: message.job.jobId, error: String(error) }, 'job-listener-failed');
        }
      }
      this.recheck(message.job);
    }
  }
}

function closing(): AppError {
  return new AppError({
    code: 'CANCELLED',
    message: 'The host is closing. Jobs that were running are queued and go on when it starts again.',
  });
}
