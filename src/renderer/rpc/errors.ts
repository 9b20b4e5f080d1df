import { ORPCError } from '@orpc/client';
import { AppError, errorRecordSchema } from '#shared/errors.ts';
import type { ErrorRecord } from '#shared/errors.ts';

/** Anything a call can throw, as the record that a person reads. */
export function errorRecord(thrown: unknown): ErrorRecord {
  if (thrown instanceof AppError) return thrown.toRecord();
  if (thrown instanceof ORPCError) {
    const record = errorRecordSchema.safeParse(thrown.data);
    if (record.success) return record.data;
    return {
      code: thrown.code === 'BAD_REQUEST' ? 'INVALID_INPUT' : 'INTERNAL',
      message: thrown.message,
      data: { rpc: thrown.code, ...issueData(thrown.data) },
    };
  }
  const stored = errorRecordSchema.safeParse(thrown);
  if (stored.success) return stored.data;
  if (thrown instanceof Error) return { code: 'INTERNAL', message: thrown.message, data: {} };
  return { code: 'INTERNAL', message: String(thrown), data: {} };
}

function issueData(data: unknown): Record<string, string> {
  return data === undefined || data === null ? {} : { details: JSON.stringify(data) };
}

export function isAborted(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

/** Only what may be gone the next moment is asked again; an answer from the host is an answer. */
export function isRetryable(thrown: unknown): boolean {
  return !(thrown instanceof ORPCError) && !isAborted(thrown);
}

/** For the clipboard: everything that helps to find the fault. */
export function errorDetails(thrown: unknown): string {
  const record = errorRecord(thrown);
  const lines = [`${record.code}: ${record.message}`];
  for (const [name, value] of Object.entries(record.data)) lines.push(`${name}: ${String(value)}`);
  lines.push(
    `page: ${window.location.pathname}${window.location.search}`,
    `time: ${new Date().toISOString()}`,
  );
  return lines.join('\n');
}
