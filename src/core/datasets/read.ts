/** Rows of an exported file by offset, and the check of a whole folder against its manifest. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { Dataset, DatasetPart, Manifest, SftRow } from '#shared/schema/dataset.ts';
import { manifestSchema, sftRowSchema } from '#shared/schema/dataset.ts';
import { problemText, rowProblem } from '#core/datasets/validate-row.ts';

/** Byte offsets of every 64th line, so that any page is one short read. */
const STRIDE = 64;

interface LineIndex {
  stamp: string;
  lines: number;
  starts: number[];
}

export interface RowsPage {
  rows: SftRow[];
  total: number;
}

export class DatasetReader {
  readonly #indexes = new Map<string, LineIndex>();

  /** @throws AppError FILE_NOT_FOUND when the folder was moved, FILE_INVALID with file and line when a row is damaged */
  async rows(
    dataset: Pick<Dataset, 'folder'>,
    part: DatasetPart,
    page: { offset: number; limit: number },
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<RowsPage> {
    const file = path.join(dataset.folder, `${part}.jsonl`);
    const index = await this.#index(file, options.signal);
    const last = Math.min(index.lines, page.offset + page.limit);
    if (page.offset >= last) return { rows: [], total: index.lines };
    const first = Math.floor(page.offset / STRIDE);
    const start = index.starts[first] ?? 0;
    const lines = await linesBetween(file, start, index.starts[Math.ceil(last / STRIDE)]);
    const skipped = page.offset - first * STRIDE;
    const wanted = lines.slice(skipped, skipped + last - page.offset);
    const rows = wanted.map((line, position) => parseRow(file, line, page.offset + position + 1));
    return { rows, total: index.lines };
  }

  async #index(file: string, signal: AbortSignal | undefined): Promise<LineIndex> {
    const facts = await stat(file).catch((thrown: unknown) => {
      throw missingFile(file, thrown);
    });
    const stamp = `${String(facts.size)}:${String(facts.mtimeMs)}`;
    const known = this.#indexes.get(file);
    if (known?.stamp === stamp) return known;
    const index: LineIndex = { stamp, lines: 0, starts: [0] };
    let at = 0;
    let lineStart = 0;
    for await (const chunk of createReadStream(file, { signal })) {
      const bytes = chunk as Buffer;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, end + 1)) {
        index.lines += 1;
        lineStart = at + end + 1;
        if (index.lines % STRIDE === 0) index.starts.push(lineStart);
      }
      at += bytes.length;
    }
    // A last line without its new line is a cut file: the row check will say so.
    if (lineStart < at) index.lines += 1;
    this.#indexes.set(file, index);
    return index;
  }
}

async function linesBetween(file: string, start: number, end: number | undefined): Promise<string[]> {
  const handle = await open(file, 'r');
  try {
    const length = (end ?? (await handle.stat()).size) - start;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead).toString('utf8').replace(/\n$/u, '').split('\n');
  } finally {
    await handle.close();
  }
}

function parseRow(file: string, line: string, number: number): SftRow {
  const read = readRow(line);
  if (typeof read !== 'string') return read;
  throw new AppError({
    code: 'FILE_INVALID',
    message: `${file}, line ${String(number)}: ${read}. The file was changed or cut after the export; export the data again.`,
    data: { file, line: number },
  });
}

/** The row, or why it is none. */
function readRow(line: string): SftRow | string {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return 'not JSON';
  }
  const parsed = sftRowSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong shape'}`;
}

export interface DatasetProblem {
  file: string;
  line: number | null;
  reason: string;
}

/** More would only repeat the same fault. */
const MOST_PROBLEMS = 100;

/** Reads every line and every checksum again. Never throws for what it finds, only for an abort. */
export async function validateDataset(
  folder: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<{ ok: boolean; problems: DatasetProblem[] }> {
  const problems: DatasetProblem[] = [];
  const manifest = await readManifest(folder, problems);
  for (const fact of manifest?.files ?? []) await validateFile(folder, fact, problems, options.signal);
  return { ok: problems.length === 0, problems: problems.slice(0, MOST_PROBLEMS) };
}

async function readManifest(folder: string, problems: DatasetProblem[]): Promise<Manifest | null> {
  const file = 'manifest.json';
  try {
    const parsed = manifestSchema.safeParse(JSON.parse(await readFile(path.join(folder, file), 'utf8')));
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    problems.push({
      file,
      line: null,
      reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong shape'}`,
    });
  } catch (thrown) {
    const absent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = absent ? `${folder} is no data set: this file is not there` : unreadable(thrown);
    problems.push({ file, line: null, reason });
  }
  return null;
}

async function validateFile(
  folder: string,
  fact: Manifest['files'][number],
  problems: DatasetProblem[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const hash = createHash('sha256');
  const ids = new Set<string>();
  let rows = 0;
  let rest = '';
  const decoder = new TextDecoder('utf-8');
  const check = (line: string): void => {
    rows += 1;
    if (problems.length >= MOST_PROBLEMS) return;
    const row = readRow(line);
    if (typeof row === 'string') {
      problems.push({ file: fact.file, line: rows, reason: row });
      return;
    }
    const problem = rowProblem(row, { maxCharacters: null });
    if (problem !== null) problems.push({ file: fact.file, line: rows, reason: problemText(problem) });
    if (ids.has(row.id)) problems.push({ file: fact.file, line: rows, reason: `id: ${row.id} came before` });
    ids.add(row.id);
  };
  try {
    for await (const chunk of createReadStream(path.join(folder, fact.file), { signal })) {
      hash.update(chunk as Buffer);
      const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(check);
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    problems.push({
      file: fact.file,
      line: null,
      reason: unreadable(thrown),
    });
    return;
  }
  if (rest !== '') check(rest);
  if (rows !== fact.rows) {
    problems.push({
      file: fact.file,
      line: null,
      reason: `${String(rows)} rows, the manifest says ${String(fact.rows)}`,
    });
  }
  if (hash.digest('hex') !== fact.sha256) {
    problems.push({ file: fact.file, line: null, reason: 'the checksum differs from the manifest’s' });
  }
}

function unreadable(thrown: unknown): string {
  if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 'the file is not there';
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function missingFile(file: string, thrown: unknown): unknown {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') return thrown;
  return new AppError({
    code: 'FILE_NOT_FOUND',
    message: `The file ${file} is gone. The entry is kept; put the folder back, or export the run again.`,
    data: { file },
    cause: thrown,
  });
}
