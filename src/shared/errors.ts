import { z } from 'zod';

/** The closed list of failures, named after the boundary that broke. Retry reads codes, never text. */
export const errorCodes = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'CANCELLED',
  'TIMEOUT',
  'INTERNAL',
  'CONFIG_INVALID',
  'FILE_NOT_FOUND',
  'FILE_INVALID',
  'FILE_EXISTS',
  'DISK_FULL',
  'STORE_CORRUPT',
  'STORE_TOO_NEW',
  'HOST_LOCKED',
  'HOST_UNREACHABLE',
  'MODEL_NOT_FOUND',
  'MODEL_FILE_INVALID',
  'MODEL_FILE_TRUNCATED',
  'MODEL_UNSUPPORTED',
  'MODEL_OUT_OF_MEMORY',
  'MODEL_CONTEXT_FULL',
  'MODEL_PROMPT_LIMIT',
  'MODEL_CRASHED',
  'MODEL_HTTP',
  'TRAINER_UNAVAILABLE',
  'TRAINER_CRASHED',
  'TRAINING_DIVERGED',
  'ENVIRONMENT_UNKNOWN',
  'ENVIRONMENT_DATA_INVALID',
  'ENVIRONMENT_CRASHED',
  'ENVIRONMENT_TIMEOUT',
  'BRANCH_DESYNC',
  'CRASH_LOOP',
  'BROWSER_MISSING',
] as const;

export const errorCodeSchema = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof errorCodeSchema>;

export type ErrorData = Record<string, string | number | boolean | null>;

/** How an error is stored and sent. `message` says what happened, what was kept, and what to do next. */
export interface ErrorRecord {
  code: ErrorCode;
  message: string;
  data: ErrorData;
}
// Named, since its code's many literals, repeated in each procedure of the contract, are more than a declaration file may hold.
export const errorRecordSchema: z.ZodType<
  ErrorRecord,
  Omit<ErrorRecord, 'data'> & { data?: ErrorData | undefined }
> = z.object({
  code: errorCodeSchema,
  message: z.string(),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
});

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(options: { code: ErrorCode; message: string; data?: ErrorData; cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.data = options.data ?? {};
  }

  toRecord(): ErrorRecord {
    return { code: this.code, message: this.message, data: this.data };
  }
}

/** Wraps anything thrown; an unknown failure becomes INTERNAL and keeps its cause. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof Error && thrown.name === 'AbortError') {
    return new AppError({ code: 'CANCELLED', message: 'The operation was cancelled.', cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT')) {
    return new AppError({
      code: 'DISK_FULL',
      message: `The disk is full (${message}). What was stored before is kept. Free some space, then give the command again.`,
      cause: thrown,
    });
  }
  return new AppError({ code: 'INTERNAL', message, cause: thrown });
}

/**
 * Infrastructure failures say nothing about the policy: they are stored with their class, shown, and excluded from
 * training and scores. They are never a zero reward.
 */
const infrastructureCodes: ReadonlySet<ErrorCode> = new Set([
  'TIMEOUT',
  'INTERNAL',
  'DISK_FULL',
  'MODEL_CRASHED',
  'MODEL_OUT_OF_MEMORY',
  'MODEL_HTTP',
  'TRAINER_CRASHED',
  'ENVIRONMENT_CRASHED',
  'ENVIRONMENT_TIMEOUT',
  'BRANCH_DESYNC',
] satisfies ErrorCode[]);

export function isInfrastructureError(code: ErrorCode): boolean {
  return infrastructureCodes.has(code);
}

export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
