/** Exported rows → token rows: the very ids the policy's prompt has, the loss on the answer only. */
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { DatasetPart, SftRow } from '#shared/schema/dataset.ts';
import { DatasetReader } from '#core/datasets/index.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import type { ChatModel } from '#core/llm/port.ts';

export interface TokenRow {
  id: string;
  /** Rows of one group stand side by side in a pass. */
  group: string;
  tokens: Int32Array;
  targets: Int32Array;
}

const pageRows = 256;

/**
 * All rows of the parts, encoded by the model's own tokenizer and template.
 * @throws FILE_NOT_FOUND, FILE_INVALID; INVALID_INPUT for no rows at all, and for rows longer than `longest` (it lists them:
 * nothing is cut silently)
 */
export async function readTokenRows(
  folder: string,
  parts: readonly DatasetPart[],
  model: ChatModel,
  options: {
    longest: number;
    /** Of the model; it decides what is advised. */
    contextLength: number;
    groupBy: TrainRun['groupBy'];
    signal: AbortSignal;
    onProgress?: (done: number) => void;
  },
): Promise<TokenRow[]> {
  const reader = new DatasetReader();
  const rows: TokenRow[] = [];
  const tooLong: RowPlace[] = [];
  const unanswered: string[] = [];
  for (const part of parts) {
    for (let offset = 0; ; offset += pageRows) {
      const page = await reader.rows(
        { folder },
        part,
        { offset, limit: pageRows },
        { signal: options.signal },
      );
      const encoded = await model.encode(page.rows.map(messagesOf), { signal: options.signal });
      page.rows.forEach((row, index) => {
        const ids = encoded[index];
        if (ids === undefined || ids.completion.length === 0) {
          unanswered.push(`${part}.jsonl:${offset + index + 1}`);
          return;
        }
        const tokens = Int32Array.from([...ids.prompt, ...ids.completion]);
        if (tokens.length > options.longest) {
          tooLong.push({ tokens: tokens.length, file: `${part}.jsonl`, line: offset + index + 1 });
          return;
        }
        const targets = Int32Array.from(ids.completion, (_, at) => ids.prompt.length + at);
        rows.push({ id: row.id, group: groupOf(row, options.groupBy), tokens, targets });
      });
      options.onProgress?.(rows.length);
      if (offset + page.rows.length >= page.total) break;
    }
  }
  if (tooLong.length > 0) throw longRows(tooLong, options.longest, options.contextLength);
  if (unanswered.length > 0) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `${unanswered.length} rows have no answer to learn from: ${listed(unanswered)}. Nothing was trained; take them out, or export again.`,
    });
  }
  if (rows.length === 0) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `${path.join(folder, parts.map((part) => `${part}.jsonl`).join(', '))}: no rows. Nothing was trained; choose another recipe or collect again.`,
    });
  }
  return rows;
}

/** How many rows the parts have; none of them is parsed. @throws FILE_NOT_FOUND */
export async function countRows(
  folder: string,
  parts: readonly DatasetPart[],
  options: { signal: AbortSignal },
): Promise<number> {
  const reader = new DatasetReader();
  let rows = 0;
  for (const part of parts) {
    rows += (await reader.rows({ folder }, part, { offset: 0, limit: 0 }, options)).total;
  }
  return rows;
}

function groupOf({ id, meta }: SftRow, groupBy: TrainRun['groupBy']): string {
  switch (groupBy) {
    case 'row':
      return id;
    case 'state':
      return `${meta.episode_id}:${String(meta.step)}`;
    case 'episode':
      return meta.episode_id;
  }
}

function messagesOf({ messages, meta }: SftRow) {
  const last = messages.length - 1;
  return messages.map((message, index) =>
    index === last && meta.completion_tokens !== null
      ? { ...message, tokens: meta.completion_tokens }
      : message,
  );
}

interface RowPlace {
  tokens: number;
  file: string;
  line: number;
}

/** Names what does not fit: the first in the message, up to 1,000 of them in its data. */
function longRows(rows: readonly RowPlace[], longest: number, contextLength: number): AppError {
  const most = Math.max(...rows.map(({ tokens }) => tokens));
  const named = rows.map(({ file, line, tokens }) => `${file}:${line} (${tokens})`);
  const outOfContext = rows.filter(({ tokens }) => tokens > contextLength).length;
  const advice =
    outOfContext === 0
      ? `Set the longest block to ${most} tokens or more (--block-tokens ${most}).`
      : `${outOfContext === rows.length ? 'They are' : `${outOfContext} of them are`} longer than the model’s context of ${contextLength} tokens: ` +
        'collect with a shorter history, or choose a base with a longer context.';
  return new AppError({
    code: 'INVALID_INPUT',
    message:
      `${rows.length} ${rows.length === 1 ? 'row is' : 'rows are'} longer than the ${longest} tokens that fit: ${listed(named)}. ` +
      `Nothing was trained and nothing was cut. ${advice}`,
    data: { rows: rows.length, longest, needed: most, list: named.slice(0, 1000).join(', ') },
  });
}

function listed(named: readonly string[]): string {
  const shown = named.slice(0, 8);
  return `${shown.join(', ')}${named.length > shown.length ? `, and ${named.length - shown.length} more` : ''}`;
}
