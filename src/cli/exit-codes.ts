/** Exit codes mean something to a script; `daydream --help` lists them. */
import type { ErrorCode } from '#shared/errors.ts';

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  model: 4,
  environment: 5,
  store: 6,
  cancelled: 130,
} as const;

export const exitCodeHelp = `Exit codes:
  0    it worked
  1    it failed (a job failed, a check found an error, what was to be stopped had already ended)
  2    the command line, a run file or another input is wrong, or what was to be written is there already
  3    what you named does not exist
  4    the model (broken, too large, crashed, gone since it was chosen)
  5    an environment (data, crash, branch that could not be proved equal)
  6    the store or the host (locked, corrupt, unreachable, disk full)
  130  stopped by you; what was finished is kept`;

const byCode: Record<ErrorCode, number> = {
  INVALID_INPUT: exitCodes.usage,
  CONFIG_INVALID: exitCodes.usage,
  FILE_INVALID: exitCodes.usage,
  FILE_EXISTS: exitCodes.usage,
  NOT_FOUND: exitCodes.notFound,
  FILE_NOT_FOUND: exitCodes.notFound,
  CANCELLED: exitCodes.cancelled,
  CONFLICT: exitCodes.failed,
  TIMEOUT: exitCodes.failed,
  INTERNAL: exitCodes.failed,
  CRASH_LOOP: exitCodes.failed,
  DISK_FULL: exitCodes.store,
  STORE_CORRUPT: exitCodes.store,
  STORE_TOO_NEW: exitCodes.store,
  HOST_LOCKED: exitCodes.store,
  HOST_UNREACHABLE: exitCodes.store,
  MODEL_NOT_FOUND: exitCodes.model,
  MODEL_FILE_INVALID: exitCodes.model,
  MODEL_FILE_TRUNCATED: exitCodes.model,
  MODEL_UNSUPPORTED: exitCodes.model,
  MODEL_OUT_OF_MEMORY: exitCodes.model,
  MODEL_CONTEXT_FULL: exitCodes.model,
  MODEL_PROMPT_LIMIT: exitCodes.model,
  MODEL_CRASHED: exitCodes.model,
  MODEL_HTTP: exitCodes.model,
  TRAINER_UNAVAILABLE: exitCodes.model,
  TRAINER_CRASHED: exitCodes.model,
  TRAINING_DIVERGED: exitCodes.failed,
  ENVIRONMENT_UNKNOWN: exitCodes.notFound,
  ENVIRONMENT_DATA_INVALID: exitCodes.environment,
  ENVIRONMENT_CRASHED: exitCodes.environment,
  ENVIRONMENT_TIMEOUT: exitCodes.environment,
  BRANCH_DESYNC: exitCodes.environment,
  BROWSER_MISSING: exitCodes.environment,
};

export function exitCodeOf(code: ErrorCode): number {
  return byCode[code];
}
