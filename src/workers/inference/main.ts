/** Entry of the inference process: reads calls, answers them, and ends with its host. */
import { z } from 'zod';
import { AppError, toAppError } from '#shared/errors.ts';
import { inferenceMethods, toWorkerSchema } from '#shared/worker/inference.ts';
import type { FromWorker, InferenceMethod } from '#shared/worker/inference.ts';
import { openHostPort } from './host-port.ts';
import { Inference } from './inference.ts';

const statusEveryMs = 500;

const port = openHostPort();
const send = (message: FromWorker): void => {
  port.send(message);
};
const inference = new Inference({
  gpu: process.env['DAYDREAM_GPU'] === 'off' ? 'off' : 'auto',
  keyValueType: process.env['DAYDREAM_KV_CACHE'] === 'F32' ? 'F32' : 'F16',
  maxThreads: Math.max(1, Number(process.env['DAYDREAM_MAX_THREADS'] ?? '1') || 1),
  log: (level, text) => {
    send({ kind: 'log', level, text });
  },
});
const running = new Map<number, AbortController>();
let lastStatus = '';

port.onMessage((message) => {
  const parsed = toWorkerSchema.safeParse(message);
  if (!parsed.success) {
    send({ kind: 'log', level: 'error', text: `unreadable message: ${parsed.error.message}` });
    return;
  }
  const call = parsed.data;
  switch (call.kind) {
    case 'ping':
      send({ kind: 'pong' });
      return;
    case 'cancel':
      running.get(call.id)?.abort(new AppError({ code: 'CANCELLED', message: 'The call was cancelled.' }));
      return;
    case 'call':
      void answer(call.id, call.method, call.params);
  }
});

async function answer(id: number, method: string, params: unknown): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (!isMethod(method)) {
      throw new AppError({
        code: 'INVALID_INPUT',
        message: `The inference process has no method ${method}.`,
      });
    }
    send({ kind: 'result', id, value: await inference.handlers[method](params, controller.signal) });
  } catch (error) {
    send({ kind: 'error', id, error: readable(error).toRecord() });
  } finally {
    running.delete(id);
    reportStatus();
  }
}

function isMethod(method: string): method is InferenceMethod {
  return Object.hasOwn(inferenceMethods, method);
}

function readable(error: unknown): AppError {
  if (!(error instanceof z.ZodError)) return toAppError(error);
  return new AppError({ code: 'INVALID_INPUT', message: z.prettifyError(error), cause: error });
}

function reportStatus(): void {
  const status = inference.status(performance.now());
  const text = JSON.stringify(status);
  if (text === lastStatus) return;
  lastStatus = text;
  send({ kind: 'status', status });
}

setInterval(reportStatus, statusEveryMs).unref();
send({ kind: 'ready' });
