/** What every handler is built from: the contract, one error mapping, and the services that `createApp` passes in. */
import { implement, ORPCError } from '@orpc/server';
import { contract } from '#shared/contract/index.ts';
import { AppError, toAppError } from '#shared/errors.ts';
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

interface Issue {
  message: string;
  path?: readonly unknown[] | undefined;
}

function issuesOf(error: ORPCError<string, unknown>): Issue[] | null {
  const data = error.data;
  if (typeof data !== 'object' || data === null || !('issues' in data)) return null;
  return Array.isArray(data.issues) ? (data.issues as Issue[]) : null;
}

/** Standard Schema allows `{ key }` segments beside plain keys. */
function segment(part: unknown): string {
  return String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part);
}

/** A failed input check names the fields; the issue list of a huge input is cut. */
function invalidInput(issues: readonly Issue[]): AppError {
  const shown = issues
    .slice(0, 8)
    .map(({ path, message }) => `${path?.map(segment).join('.') || 'input'}: ${message}`);
  const rest = issues.length > shown.length ? `; and ${String(issues.length - shown.length)} more` : '';
  return new AppError({ code: 'INVALID_INPUT', message: `${shown.join('; ')}${rest}. Nothing was changed.` });
}

/** Everything thrown becomes the contract's one typed error, `APP`, with the AppError record as data. */
export function toRpcError(thrown: unknown): ORPCError<string, unknown> {
  if (thrown instanceof ORPCError && thrown.code === 'APP') return thrown;
  const issues = thrown instanceof ORPCError ? issuesOf(thrown) : null;
  const error = issues === null ? toAppError(thrown) : invalidInput(issues);
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
