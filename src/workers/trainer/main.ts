/** Entry of the trainer process: reads calls, answers them one after the other, and ends with its host. */
import { z } from 'zod';
import { AppError, toAppError } from '#shared/errors.ts';
import { toWorkerSchema } from '#shared/worker/inference.ts';
import type { FromWorker } from '#shared/worker/inference.ts';
import { trainerMethods } from '#shared/worker/trainer.ts';
import type { TrainerMethod } from '#shared/worker/trainer.ts';
import { openHostPort } from './host-port.ts';
import { TrainerSession } from './session.ts';

const port = openHostPort();
const send = (message: FromWorker): void => {
  port.send(message);
};
const session = new TrainerSession();
const running = new Map<number, AbortController>();
/** Calls change one model: the next begins when the last has ended. */
let queue: Promise<void> = Promise.resolve();

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
    case 'call': {
      const controller = new AbortController();
      running.set(call.id, controller);
      queue = queue.then(() => answer(call.id, call.method, call.params, controller.signal));
    }
  }
});

async function answer(id: number, method: string, params: unknown, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    if (!isMethod(method)) {
      throw new AppError({ code: 'INVALID_INPUT', message: `The trainer process has no method ${method}.` });
    }
    send({ kind: 'result', id, value: await session.handlers[method](params, signal) });
  } catch (error) {
    send({ kind: 'error', id, error: readable(error).toRecord() });
  } finally {
    running.delete(id);
  }
}

function isMethod(method: string): method is TrainerMethod {
  return Object.hasOwn(trainerMethods, method);
}

function readable(error: unknown): AppError {
  if (error instanceof z.ZodError) {
    return new AppError({ code: 'INVALID_INPUT', message: z.prettifyError(error), cause: error });
  }
  if (error instanceof RangeError) {
    return new AppError({ code: 'INVALID_INPUT', message: error.message, cause: error });
  }
  return toAppError(error);
}

send({ kind: 'ready' });
