/**
 * The store on another thread, read-only: lists and aggregates that would hold up the host's event loop. It answers one request
 * after the other.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openReadOnlyStore } from '#core/store/open-store.ts';
import type { Store } from '#core/store/port.ts';
import { queryOf } from '#core/store/reader-protocol.ts';
import type { ReaderAnswer, ReaderData, ReaderRequest } from '#core/store/reader-protocol.ts';
import { toAppError } from '#shared/errors.ts';

const port = parentPort;
if (port === null) throw new Error('store-reader runs as a worker thread');

const { file } = workerData as ReaderData;
let store: Store | null = null;

/** Opened by the first request, so that a store that cannot be read is an answer and not a dead thread. */
function openOnce(): Store {
  store ??= openReadOnlyStore(file);
  return store;
}

function answer({ name, parameters }: ReaderRequest): unknown {
  return queryOf(openOnce(), name)(...(parameters as never[]));
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
