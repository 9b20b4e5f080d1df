/** What every worker process does with its line to the host: answer pings and calls, hear cancels, and end with its host. */
import { z } from 'zod';
import { AppError, toAppError } from '#shared/errors.ts';
import { toWorkerSchema } from '#shared/worker/inference.ts';
import type { FromWorker } from '#shared/worker/inference.ts';
import { openHostPort } from './host-port.ts';

type Handlers = Readonly<Record<string, (params: unknown, signal: AbortSignal) => unknown>>;

interface ServeOptions {
  /** As it is called in errors: `inference`, `trainer`. */
  name: string;
  handlers: Handlers;
  /** One call after the other, where calls change one thing; else all at once. */
  inTurn: boolean;
  /** A failure in this worker's own words; null: as it is. */
  readable?: (error: unknown) => AppError | null;
  onAnswered?: () => void;
}

interface HostLine {
  send(message: FromWorker): void;
  /** Begins to answer, and tells the host so. */
  serve(options: ServeOptions): void;
}

export function openHostLine(): HostLine {
  const port = openHostPort();
  const send = (message: FromWorker): void => {
    port.send(message);
  };
  return {
    send,
    serve: (options) => {
      const running = new Map<number, AbortController>();
      let queue: Promise<void> = Promise.resolve();
      const answer = async (
        id: number,
        method: string,
        params: unknown,
        signal: AbortSignal,
      ): Promise<void> => {
        try {
          signal.throwIfAborted();
          const handler = Object.hasOwn(options.handlers, method) ? options.handlers[method] : undefined;
          if (handler === undefined) {
            throw new AppError({
              code: 'INVALID_INPUT',
              message: `The ${options.name} process has no method ${method}.`,
            });
          }
          send({ kind: 'result', id, value: await handler(params, signal) });
        } catch (error) {
          send({ kind: 'error', id, error: (options.readable?.(error) ?? readable(error)).toRecord() });
        } finally {
          running.delete(id);
          options.onAnswered?.();
        }
      };
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
            running
              .get(call.id)
              ?.abort(new AppError({ code: 'CANCELLED', message: 'The call was cancelled.' }));
            return;
          case 'call': {
            const controller = new AbortController();
            running.set(call.id, controller);
            const begin = (): Promise<void> => answer(call.id, call.method, call.params, controller.signal);
            if (options.inTurn) queue = queue.then(begin);
            else void begin();
          }
        }
      });
      send({ kind: 'ready' });
    },
  };
}

function readable(error: unknown): AppError {
  if (!(error instanceof z.ZodError)) return toAppError(error);
  return new AppError({ code: 'INVALID_INPUT', message: z.prettifyError(error), cause: error });
}
