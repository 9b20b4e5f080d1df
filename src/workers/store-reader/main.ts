/**
 * The store on another thread, read-only: lists, aggregates and exports that would hold up the host's event loop. It answers one
 * request after the other. Iterations page through the store, so that no read transaction stays open and keeps the WAL from
 * being reset.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openReadOnlyStore } from '#core/store/open-store.ts';
import type { Store } from '#core/store/port.ts';
import { iterationChunk, queryNames, queryOf } from '#core/store/reader-protocol.ts';
import type { QueryName, ReaderAnswer, ReaderData, ReaderRequest } from '#core/store/reader-protocol.ts';
import { AppError, toAppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';

const port = parentPort;
if (port === null) throw new Error('store-reader runs as a worker thread');

const { file } = workerData as ReaderData;
const iterations = new Map<number, Iterator<unknown>>();
let store: Store | null = null;

/** Opened by the first request, so that a store that cannot be read is an answer and not a dead thread. */
function openOnce(): Store {
  store ??= openReadOnlyStore(file);
  return store;
}

function answer(request: ReaderRequest): unknown {
  if (request.kind === 'query') {
    const name = queryNames.find((known) => known === request.name);
    if (name === undefined) throw unknown(request.name);
    return query(name, request.parameters);
  }
  if (request.kind === 'end') {
    iterations.delete(request.iteration);
    return null;
  }
  if (request.kind === 'open') {
    iterations.set(request.iteration, iterate(request.name, request.parameters));
    return null;
  }
  const iterator = iterations.get(request.iteration);
  if (iterator === undefined) {
    // This thread was started after another one died: going on from the first row would repeat rows.
    throw new AppError({
      code: 'INTERNAL',
      message: 'The store reader was restarted in the middle of a list. Try again.',
    });
  }
  const rows: unknown[] = [];
  while (rows.length < iterationChunk) {
    const next = iterator.next();
    if (next.done === true) break;
    rows.push(next.value);
  }
  return rows;
}

function query(name: QueryName, parameters: readonly unknown[]): unknown {
  return queryOf(openOnce(), name)(...(parameters as never[]));
}

function iterate(name: string, parameters: readonly unknown[]): Iterator<unknown> {
  const jobId = parameters[0] as JobId;
  if (name === 'branches') return openOnce().branches.iterateJob(jobId);
  if (name === 'reflections') return openOnce().reflections.iterateJob(jobId);
  throw unknown(name);
}

function unknown(name: string): AppError {
  return new AppError({ code: 'INVALID_INPUT', message: `The store reader has no query "${name}".` });
}

port.on('message', (request: ReaderRequest) => {
  let message: ReaderAnswer;
  try {
    message = { id: request.id, ok: true, result: answer(request) };
  } catch (error) {
    message = { id: request.id, ok: false, error: toAppError(error).toRecord() };
  }
  port.postMessage(message);
});
