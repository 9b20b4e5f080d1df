/**
 * The host's side of the reader thread: one worker, started by the first call and again after it died. It keeps the process alive
 * only while a call is open.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { StoreReader } from '#core/store/port.ts';
import type { QueryName, ReaderAnswer, ReaderData, ReaderRequest } from '#core/store/reader-protocol.ts';
import type { Logger } from '#core/ports.ts';
import { AppError } from '#shared/errors.ts';

interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** `entry` is the compiled worker where a bundler put it elsewhere; by default it is found beside the caller. */
export function createStoreReader(options: { file: string; log: Logger; entry?: URL }): StoreReader {
  const { file, log } = options;
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let worker: Worker | null = null;
  let closed = false;
  let lastId = 0;

  function start(): Worker {
    const data: ReaderData = { file };
    const started = new Worker(options.entry ?? readerEntry(), {
      workerData: data,
      execArgv: [],
      name: 'store-reader',
    });
    started.on('message', (answer: ReaderAnswer) => {
      const call = pending.get(answer.id);
      if (call === undefined) return;
      if (answer.ok) call.resolve(answer.result);
      else call.reject(new AppError(answer.error));
    });
    started.on('error', (error) => {
      log.error({ error: String(error) }, 'store-reader-failed');
    });
    started.on('exit', (code) => {
      if (worker === started) worker = null;
      const error = new AppError({
        code: 'INTERNAL',
        message: `The store reader stopped (exit code ${code}). Nothing stored was touched; the next request starts it again.`,
      });
      for (const call of pending.values()) call.reject(error);
    });
    started.unref();
    return started;
  }

  async function request(body: Omit<ReaderRequest, 'id'>, { signal }: CallOptions = {}): Promise<unknown> {
    signal?.throwIfAborted();
    if (closed) throw new AppError({ code: 'CANCELLED', message: 'The store reader is closed.' });
    worker ??= start();
    const current = worker;
    lastId += 1;
    const id = lastId;
    const call = Promise.withResolvers<unknown>();
    function abort(): void {
      call.reject(signal?.reason as Error);
    }
    pending.set(id, call);
    current.ref();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      current.postMessage({ ...body, id } satisfies ReaderRequest);
      return await call.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      pending.delete(id);
      if (pending.size === 0) current.unref();
    }
  }

  /** The type of the named query is the port's; `name` and port member are matched in the list below. */
  function query<Call>(name: QueryName, arity: number): Call {
    return ((...parameters: unknown[]) =>
      request(
        { name, parameters: parameters.slice(0, arity) },
        parameters[arity] as CallOptions | undefined,
      )) as Call;
  }

  return {
    episodes: {
      list: query('episodes.list', 3),
      neighbours: query('episodes.neighbours', 3),
      facets: query('episodes.facets', 0),
      get: query('episodes.get', 1),
      steps: query('episodes.steps', 1),
      step: query('episodes.step', 2),
    },
    branches: {
      ofEpisode: query('branches.ofEpisode', 2),
      summary: query('branches.summary', 1),
    },
    reflections: {
      attempts: query('reflections.attempts', 1),
      list: query('reflections.list', 2),
    },
    jobs: {
      list: query('jobs.list', 2),
      events: query('jobs.events', 2),
      eventsPage: query('jobs.eventsPage', 3),
      metrics: query('jobs.metrics', 2),
    },
    counts: query('counts', 0),
    async close() {
      closed = true;
      await worker?.terminate();
    },
  };
}

/** The build mirrors the source tree (docs/adr/0003), so the worker lies at the same place in both; only its extension differs. */
function readerEntry(): URL {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const found = new URL(`../../workers/store-reader/main${extension}`, import.meta.url);
  if (existsSync(fileURLToPath(found))) return found;
  throw new AppError({
    code: 'FILE_NOT_FOUND',
    message: `This installation is incomplete: ${fileURLToPath(found)} is missing. Install Daydream again.`,
  });
}
