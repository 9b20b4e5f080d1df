/**
 * One supervised child: started on the first call, its death fails the calls that were under way, and it is started again
 * with a growing pause. What the child had loaded is its client's business: `generation` tells it that a new one answers.
 */
import { fromWorkerSchema } from '#shared/worker/inference.ts';
import type { FromWorker, ToWorker } from '#shared/worker/inference.ts';
import { AppError } from '#shared/errors.ts';
import type { ChildHandle, Clock, Logger } from '#core/ports.ts';

export type WorkerState = 'stopped' | 'starting' | 'ready' | 'restarting' | 'failed';

export interface SupervisorOptions {
  spawn(): ChildHandle;
  clock: Clock;
  log: Logger;
  onState(state: WorkerState): void;
  onEvent(message: Extract<FromWorker, { kind: 'status' | 'log' }>): void;
  /** First pause before a restart; doubles up to `longestPauseMs`, and starts anew after a minute of health. */
  firstPauseMs?: number;
  longestPauseMs?: number;
  /** Deaths in a row without a minute of health after which it stays down until the next call. */
  mostCrashes?: number;
  /** While calls wait, a child that answers no ping for this long is killed and counts as crashed. */
  hangMs?: number;
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const healthyMs = 60_000;
const pingsBeforeHang = 4;

export class Supervisor {
  readonly #options: Required<SupervisorOptions>;
  readonly #pending = new Map<number, PendingCall>();
  #child: ChildHandle | null = null;
  #ready: PromiseWithResolvers<void> | null = null;
  #nextId = 1;
  #state: WorkerState = 'stopped';
  #restarts = 0;
  #crashesInRow = 0;
  #startedAt = 0;
  #unansweredPings = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout | null = null;
  #disposed = false;
  #generation = 0;

  constructor(options: SupervisorOptions) {
    this.#options = { firstPauseMs: 200, longestPauseMs: 10_000, mostCrashes: 5, hangMs: 60_000, ...options };
  }

  get state(): WorkerState {
    return this.#state;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Grows with each new child process. */
  get generation(): number {
    return this.#generation;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when a child answers. @throws MODEL_CRASHED when it cannot be started. */
  async start(): Promise<void> {
    if (this.#disposed) throw new AppError({ code: 'CANCELLED', message: 'The application is closing.' });
    if (this.#state === 'failed') this.#crashesInRow = 0;
    if (this.#child === null && this.#restartTimer === null)
      this.#spawn(this.#generation === 0 ? 'starting' : 'restarting');
    await this.#ready?.promise;
  }

  async call(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    await this.start();
    signal?.throwIfAborted();
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      // The caller hears at once; the child stops within a token and its late answer finds nobody.
      const abort = (): void => {
        this.#pending.delete(id);
        this.#send({ kind: 'cancel', id });
        reject(abortReason(signal));
      };
      signal?.addEventListener('abort', abort, { once: true });
      const finish = (): void => {
        signal?.removeEventListener('abort', abort);
      };
      this.#pending.set(id, {
        resolve: (value) => {
          finish();
          resolve(value);
        },
        reject: (reason) => {
          finish();
          reject(reason as Error);
        },
      });
      this.#send({ kind: 'call', id, method, params });
    });
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    if (this.#watch !== null) clearInterval(this.#watch);
    const child = this.#child;
    this.#failAll(new AppError({ code: 'CANCELLED', message: 'The application is closing.' }));
    this.#ready?.reject(new AppError({ code: 'CANCELLED', message: 'The application is closing.' }));
    this.#ready = null;
    if (child === null) return;
    await new Promise<void>((resolve) => {
      const kill = setTimeout(() => {
        child.kill('SIGKILL');
      }, 2000);
      child.onExit(() => {
        clearTimeout(kill);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }

  #spawn(state: WorkerState): void {
    this.#restartTimer = null;
    this.#setState(state);
    this.#ready ??= silent(Promise.withResolvers<void>());
    this.#generation += 1;
    this.#startedAt = this.#options.clock.now();
    this.#unansweredPings = 0;
    const child = this.#options.spawn();
    this.#child = child;
    child.onMessage((message) => {
      if (this.#child === child) this.#receive(message);
    });
    child.onExit((exit) => {
      if (this.#child === child) this.#exited(exit);
    });
    this.#watch ??= setInterval(() => {
      this.#checkHang();
    }, this.#options.hangMs / pingsBeforeHang).unref();
  }

  #receive(message: unknown): void {
    this.#unansweredPings = 0;
    const parsed = fromWorkerSchema.safeParse(message);
    if (!parsed.success) {
      this.#options.log.error({ reason: parsed.error.message }, 'worker-message-unreadable');
      this.#answeredUnreadably(message, parsed.error);
      return;
    }
    const answer = parsed.data;
    switch (answer.kind) {
      case 'ready':
        this.#setState('ready');
        this.#ready?.resolve();
        return;
      case 'result':
        this.#take(answer.id)?.resolve(answer.value);
        return;
      case 'error':
        this.#take(answer.id)?.reject(new AppError(answer.error));
        return;
      case 'status':
      case 'log':
        this.#options.onEvent(answer);
        return;
      case 'pong':
    }
  }

  /** The worker has done with this call, so nothing else will ever end it. */
  #answeredUnreadably(message: unknown, cause: Error): void {
    if (typeof message !== 'object' || message === null || !('id' in message)) return;
    if (typeof message.id !== 'number') return;
    this.#take(message.id)?.reject(
      new AppError({
        code: 'MODEL_CRASHED',
        message: 'The worker gave an answer that cannot be read; the call is ended. The log has the details.',
        cause,
      }),
    );
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    return call;
  }

  #exited(exit: { code: number | null; signal: string | null }): void {
    this.#child = null;
    if (this.#disposed) return;
    const now = this.#options.clock.now();
    this.#crashesInRow = now - this.#startedAt >= healthyMs ? 1 : this.#crashesInRow + 1;
    this.#options.log.warn({ ...exit, crashesInRow: this.#crashesInRow }, 'worker-died');
    const crash = crashed(exit);
    const ready = this.#ready;
    this.#ready = null;
    if (this.#crashesInRow >= this.#options.mostCrashes) {
      this.#setState('failed');
      this.#failAll(crash);
      ready?.reject(crash);
      return;
    }
    this.#restarts += 1;
    this.#ready = silent(Promise.withResolvers<void>());
    // Whoever waited for the dead one to come up waits for its successor; calls under way fail, their episode retries.
    if (ready !== null) this.#ready.promise.then(ready.resolve, ready.reject);
    this.#setState('restarting');
    const pause = Math.min(
      this.#options.longestPauseMs,
      this.#options.firstPauseMs * 2 ** (this.#crashesInRow - 1),
    );
    this.#restartTimer = setTimeout(() => {
      this.#spawn('restarting');
    }, pause);
    this.#failAll(crash);
  }

  #checkHang(): void {
    if (this.#child === null || this.#pending.size === 0) return;
    // Counted in pings, not in time: a host that was itself asleep must not blame the child.
    if (this.#unansweredPings >= pingsBeforeHang) {
      this.#options.log.error({ pid: this.#child.pid ?? null }, 'worker-hangs');
      this.#child.kill('SIGKILL');
      return;
    }
    this.#unansweredPings += 1;
    this.#send({ kind: 'ping' });
  }

  #failAll(reason: AppError): void {
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) call.reject(reason);
  }

  #send(message: ToWorker): void {
    this.#child?.send(message);
  }

  #setState(state: WorkerState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState(state);
  }
}

function crashed(exit: { code: number | null; signal: string | null }): AppError {
  const how = exit.signal === null ? `exit code ${exit.code ?? 'unknown'}` : `signal ${exit.signal}`;
  return new AppError({
    code: 'MODEL_CRASHED',
    message:
      `The inference process died (${how}). Everything stored is kept; it is started again by itself and the episode is retried. ` +
      'If this repeats, use a smaller context or fewer sequences: running out of memory looks like this.',
    data: { exitCode: exit.code, signal: exit.signal },
  });
}

function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new AppError({ code: 'CANCELLED', message: 'The call was cancelled.' });
}

/** Nobody may be waiting when it fails; that is no unhandled rejection. */
function silent(resolvers: PromiseWithResolvers<void>): PromiseWithResolvers<void> {
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
