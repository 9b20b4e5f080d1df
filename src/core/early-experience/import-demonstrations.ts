/**
 * Demonstrations from a JSONL file: one `{"task_id": "…", "actions": ["…", …], "thoughts": ["…", …]?}` a line. Bad lines are
 * reported by number and reason, good ones are kept, nothing is guessed. Whether the actions succeed is proved later, by
 * executing them.
 */
import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { taskIdSchema } from '#shared/ids.ts';

const lineSchema = z.object({
  task_id: taskIdSchema,
  actions: z.array(z.string().min(1).max(10_000)).min(1).max(10_000),
  /** The expert's own reasoning, one a step; '' where there was none. */
  thoughts: z.array(z.string().max(100_000)).optional(),
});

export interface ImportedDemonstration {
  line: number;
  taskId: z.infer<typeof taskIdSchema>;
  actions: string[];
  thoughts: (string | null)[];
}

export interface RejectedLine {
  line: number;
  reason: string;
}

/** A longer line is no demonstration; reading it whole would only eat memory. Bytes. */
const LONGEST_LINE = 4_000_000;

export type ImportedLine =
  { ok: true; demonstration: ImportedDemonstration } | { ok: false; rejected: RejectedLine };

export function parseDemonstrationLine(text: string, line: number): ImportedLine {
  const reject = (reason: string): ImportedLine => ({ ok: false, rejected: { line, reason } });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return reject('not JSON');
  }
  const parsed = lineSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return reject(`${issue?.path.join('.') || 'line'}: ${issue?.message ?? 'wrong shape'}`);
  }
  const { task_id: taskId, actions, thoughts } = parsed.data;
  if (thoughts !== undefined && thoughts.length !== actions.length) {
    return reject(`${String(thoughts.length)} thoughts for ${String(actions.length)} actions`);
  }
  const spoken = actions.map((_, index) => thoughts?.[index]?.trim() || null);
  return { ok: true, demonstration: { line, taskId, actions, thoughts: spoken } };
}

/**
 * Line by line, in constant memory. Blank lines are skipped, a byte-order mark and CRLF are accepted.
 *
 * @throws AppError FILE_NOT_FOUND, FILE_INVALID (not readable, not UTF-8)
 */
export async function* readDemonstrations(
  file: string,
  options: { signal: AbortSignal },
): AsyncGenerator<ImportedLine> {
  let number = 0;
  for await (const line of linesOf(file, options.signal)) {
    number += 1;
    if (line === null) {
      yield {
        ok: false,
        rejected: { line: number, reason: `longer than ${String(LONGEST_LINE)} bytes` },
      };
      continue;
    }
    const text = (number === 1 ? line.replace(/^\u{feff}/u, '') : line).trim();
    if (text !== '') yield parseDemonstrationLine(text, number);
  }
}

/** null stands for a line that was too long. */
async function* linesOf(file: string, signal: AbortSignal): AsyncGenerator<string | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let pending: Buffer[] = [];
  let size = 0;
  const take = (): string | null => {
    const line = size > LONGEST_LINE ? null : decoder.decode(Buffer.concat(pending));
    pending = [];
    size = 0;
    return line;
  };
  const keep = (part: Buffer): void => {
    size += part.length;
    if (size <= LONGEST_LINE) pending.push(part);
    else pending = [];
  };
  try {
    for await (const chunk of createReadStream(file, { signal })) {
      let rest = chunk as Buffer;
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        keep(rest.subarray(0, end));
        yield take();
        rest = rest.subarray(end + 1);
      }
      keep(rest);
    }
    if (size > 0) yield take();
  } catch (thrown) {
    throw readFailure(file, thrown);
  }
}

function readFailure(file: string, thrown: unknown): unknown {
  if (thrown instanceof AppError || !(thrown instanceof Error) || thrown.name === 'AbortError') return thrown;
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') {
    return new AppError({
      code: 'FILE_NOT_FOUND',
      message: `There is no file ${file}. Nothing was imported; check demonstrations.file.`,
      cause: thrown,
    });
  }
  const reason =
    code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      ? 'it is not UTF-8 text'
      : `it cannot be read (${thrown.message})`;
  return new AppError({
    code: 'FILE_INVALID',
    message: `${file}: ${reason}. Nothing more was imported.`,
    cause: thrown,
  });
}
