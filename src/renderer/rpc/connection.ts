/**
 * One lasting connection to the host, over whatever carries it. A lost one is opened again with back-off; calls made meanwhile
 * wait a little for it. What it is not: a retry of calls. A call that was in flight fails and its caller decides.
 */
import type { ClientContext, ClientLink, ClientOptions } from '@orpc/client';
import { AppError } from '#shared/errors.ts';

export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused';

/** The host is there and does not let this page in: its token is not, or no longer, the host's. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** An attempt that neither opened nor failed in its time. */
class Silent extends Error {}

export interface Transport {
  link: ClientLink<ClientContext>;
  /** Resolves when it can carry calls; rejects when it never will, with `Refused` where that is known. */
  opened: Promise<void>;
  /** Resolves when it is gone. */
  closed: Promise<void>;
  close(): void;
}

export interface ConnectionOptions {
  open(): Transport;
  /** Milliseconds to wait before attempt n (from 0). */
  backOff?(attempt: number): number;
  /** How long a call waits for a lost connection before it fails. */
  patienceMs?: number;
  /** How long an attempt may take before it is given up: what swallows it, e.g. a tunnel to a sleeping host, tells nobody. */
  connectWithinMs?: number;
}

const defaultBackOff = (attempt: number) => Math.min(5000, 250 * 2 ** attempt);

export class Connection implements ClientLink<ClientContext> {
  #state: ConnectionState = 'connecting';
  #transport: Transport | null = null;
  #attempt = 0;
  #everOpen = false;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  async call(
    path: readonly string[],
    input: unknown,
    options: ClientOptions<ClientContext>,
  ): Promise<unknown> {
    await this.#waitUntilOpen(options.signal);
    const transport = this.#transport;
    if (transport === null) throw unreachable();
    try {
      return await transport.link.call(path, input, options);
    } catch (error) {
      // What the link says of its own end is of no use to a reader.
      if (this.#transport !== transport && options.signal?.aborted !== true) throw unreachable();
      throw error;
    }
  }

  /** Tries at once, e.g. after the user asked for it. */
  retryNow(): void {
    if (this.#state === 'open' || this.#stopped) return;
    this.#attempt = 0;
    const hanging = this.#transport;
    this.#transport = null;
    hanging?.close();
    this.#connect();
  }

  close(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#transport?.close();
  }

  #set(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  #connect(): void {
    clearTimeout(this.#timer);
    const transport = this.#options.open();
    this.#transport = transport;
    const lost = (reason?: unknown) => {
      if (this.#transport !== transport) return;
      this.#transport = null;
      if (this.#stopped) return;
      clearTimeout(this.#timer);
      // A host that never answered has most likely refused the token; one that did answer has gone away, unless it says otherwise.
      const turnedAway = !this.#everOpen && this.#attempt >= 2 && !(reason instanceof Silent);
      this.#set(reason instanceof Refused || turnedAway ? 'refused' : 'lost');
      const wait = (this.#options.backOff ?? defaultBackOff)(this.#attempt);
      this.#attempt += 1;
      this.#timer = setTimeout(() => {
        this.#connect();
      }, wait);
    };
    this.#timer = setTimeout(() => {
      lost(new Silent());
      transport.close();
    }, this.#options.connectWithinMs ?? 5000);
    transport.opened.then(() => {
      if (this.#transport !== transport) return;
      clearTimeout(this.#timer);
      this.#attempt = 0;
      this.#everOpen = true;
      this.#set('open');
    }, lost);
    void transport.closed.then(() => {
      lost();
    });
  }

  #waitUntilOpen(signal: AbortSignal | undefined): Promise<void> {
    if (this.#state === 'open') return Promise.resolve();
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        unsubscribe();
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const abort = () => {
        finish(() => {
          reject(new DOMException('The call was cancelled.', 'AbortError'));
        });
      };
      const unsubscribe = this.subscribe(() => {
        if (this.#state === 'open') finish(resolve);
      });
      const timer = setTimeout(() => {
        finish(() => {
          reject(unreachable());
        });
      }, this.#options.patienceMs ?? 8000);
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

function unreachable(): AppError {
  return new AppError({
    code: 'HOST_UNREACHABLE',
    message:
      'Daydream’s host does not answer. Everything committed so far is kept. Start it again (`daydream serve`) and open the link that it prints; this page reconnects by itself when the same host comes back.',
  });
}
