/** The contract over WebSocket to a host that already runs on this data folder. */
import { createORPCClient, ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { z } from 'zod';
import type { Client } from '#shared/contract/index.ts';
import { AppError, errorRecordSchema, toAppError } from '#shared/errors.ts';
import { issueSentences } from '#shared/issue-words.ts';
import { rpcSocket } from '#shared/rpc-socket.ts';

const connectWithinMs = 5_000;

export interface Connection {
  client: Client;
  /** Aborts when the host goes away. */
  lost: AbortSignal;
  close(): void;
}

/** @throws AppError HOST_UNREACHABLE */
export async function connect(address: { port: number; token: string }): Promise<Connection> {
  const socket = new WebSocket(
    `ws://127.0.0.1:${String(address.port)}/rpc?token=${encodeURIComponent(address.token)}`,
  );
  const lost = new AbortController();
  socket.binaryType = 'arraybuffer';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => fail(), connectWithinMs);
    const fail = () => {
      clearTimeout(timer);
      socket.close();
      reject(
        new AppError({
          code: 'HOST_UNREACHABLE',
          message: `The host of this data folder does not answer on 127.0.0.1:${String(address.port)}. If it hangs, end it and try again; nothing is lost.`,
        }),
      );
    };
    socket.addEventListener('open', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.addEventListener('error', fail);
  });
  socket.addEventListener('close', () => lost.abort());
  const client: Client = createORPCClient(new RPCLink({ websocket: rpcSocket(socket) }));
  return { client, lost: lost.signal, close: () => socket.close() };
}

/** What a client call threw, as the AppError that the host sent; what a command itself could not read is the user's to correct. */
export function clientError(thrown: unknown): AppError {
  if (thrown instanceof ORPCError && thrown.code === 'APP') {
    const record = errorRecordSchema.safeParse(thrown.data);
    if (record.success) return new AppError({ ...record.data, cause: thrown });
  }
  if (thrown instanceof z.ZodError) {
    const words = issueSentences(thrown.issues, undefined);
    return new AppError({ code: 'INVALID_INPUT', message: `${words} Nothing was changed.`, cause: thrown });
  }
  return toAppError(thrown);
}
