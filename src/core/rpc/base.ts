/** What every handler is built from: the contract, one error mapping, and the services that `createApp` passes in. */
import { ValidationError } from '@orpc/contract';
import { implement, ORPCError } from '@orpc/server';
import type { z } from 'zod';
import { contract } from '#shared/contract/index.ts';
import { AppError, toAppError } from '#shared/errors.ts';
import { issueSentences } from '#shared/issue-words.ts';
import type { DatasetReader } from '#core/datasets/index.ts';
import type { CoreServices } from '#core/services.ts';
import type { HostPorts } from '#core/ports.ts';
import type { OutgoingMeter } from '#core/rpc/outgoing.ts';
import type { PlayDesk } from '#core/rpc/play.ts';
import type { StoreReader } from '#core/store/port.ts';
import type { TokenTexts } from '#core/rpc/token-texts.ts';

/** Passed by hand to each area's handlers. */
export interface RpcServices extends CoreServices {
  readonly host: HostPorts['kind'];
  readonly startedAt: number;
  readonly plays: PlayDesk;
  /** The same queries on another thread: a heavy list never holds up the jobs of this process. */
  readonly reader: StoreReader;
  readonly tokenTexts: TokenTexts;
  readonly datasetRows: DatasetReader;
  readonly outgoing: OutgoingMeter;
}

/** A failed input check names the fields; null for anything else. The contract's schemas are zod's, and so are their issues. */
function invalidInput({ cause, code }: ORPCError<string, unknown>): AppError | null {
  if (code !== 'BAD_REQUEST' || !(cause instanceof ValidationError)) return null;
  const words = issueSentences(cause.issues as z.core.$ZodIssue[], cause.data);
  return new AppError({ code: 'INVALID_INPUT', message: `${words} Nothing was changed.`, cause });
}

/** Everything thrown becomes the contract's one typed error, `APP`, with the AppError record as data. */
export function toRpcError(thrown: unknown): ORPCError<string, unknown> {
  if (thrown instanceof ORPCError && thrown.code === 'APP') return thrown;
  const error = (thrown instanceof ORPCError ? invalidInput(thrown) : null) ?? toAppError(thrown);
  return new ORPCError('APP', { status: 400, message: error.message, data: error.toRecord(), cause: error });
}

/** The contract as builders; a handler cannot throw past this middleware, and failed input validation passes it too. */
export const os = implement(contract).use(async ({ next }) => {
  try {
    return await next();
  } catch (thrown) {
    throw toRpcError(thrown);
  }
});
