/**
 * Writes a data set folder all or nothing: rows are streamed and checked one by one into a temporary folder beside the target,
 * every file is synced to disk, then one rename makes it real. A reader never sees half an export.
 */
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import { sha256Schema } from '#shared/ids.ts';
import type { DatasetId } from '#shared/ids.ts';
import type { DatasetPart, Manifest, SftRow } from '#shared/schema/dataset.ts';
import { datasetPartSchema, manifestSchema } from '#shared/schema/dataset.ts';
import { makeFolder } from '#core/make-folder.ts';
import { datasetCard } from '#core/datasets/card.ts';
import { clearOwnFolder, ownerFile, refuseForeignFolder } from '#core/datasets/folder.ts';
import type { RowProblem, SoftProblem } from '#core/datasets/validate-row.ts';
import { isSoft, problemText, rowProblem } from '#core/datasets/validate-row.ts';

export interface DatasetTarget {
  /** Absolute; must not exist, be empty, or hold an earlier attempt of the same owner. */
  folder: string;
  name: string;
  /** Marks the folder, so that a resumed export may replace its own earlier attempt and nobody else's. */
  owner: DatasetId;
  maxCharacters: number | null;
}

export interface DatasetWriter {
  /** @returns false for an overlong or repeating row, which is left out and counted; @throws AppError INTERNAL when it is unsound */
  add(part: DatasetPart, row: SftRow): Promise<boolean>;
  /** Rows of a part so far. */
  rows(part: DatasetPart): number;
  dropped(): Manifest['filters'];
}

/** What the caller knows of a data set; names, sizes and checksums of its files are the writer's. */
export interface DatasetContent {
  manifest: Omit<Manifest, 'files'>;
  /** Rows that could have been written, by part; null where nobody counted. */
  candidates(part: DatasetPart): number | null;
}

const DROP_HELP: Record<SoftProblem, string> = {
  overlong: 'longer than limits.maxPromptTokens and policy.maxTokens hold; left out whole, never cut',
  repetition: 'a message repeats a whole text, as a faulty builder does; left out whole',
};

/** Characters gathered before a write. */
const CHUNK = 1 << 20;

export async function writeDataset(
  target: DatasetTarget,
  fill: (writer: DatasetWriter) => Promise<DatasetContent>,
  options: { signal: AbortSignal },
): Promise<Manifest> {
  const { owner } = target;
  // A link to a folder on another disk stays a link.
  const folder = await realpath(target.folder).catch(() => target.folder);
  const partial = `${folder}.partial-${owner}`;
  try {
    await refuseForeignFolder(folder, owner);
    await rm(partial, { recursive: true, force: true });
    makeFolder(partial);
    const files = new Map<DatasetPart, RowFile>();
    let manifest: Manifest;
    try {
      for (const part of datasetPartSchema.options) {
        const handle = await open(path.join(partial, `${part}.jsonl`), 'wx');
        files.set(part, new RowFile(part, handle, target, options.signal));
      }
      const content = await fill(writerOf(files));
      const facts: Manifest['files'] = [];
      for (const [part, file] of files) {
        facts.push({ ...(await file.finish()), candidates: content.candidates(part) });
      }
      manifest = manifestSchema.parse({ ...content.manifest, files: facts });
    } finally {
      await Promise.allSettled([...files.values()].map((file) => file.close()));
    }
    options.signal.throwIfAborted();
    await writeSynced(path.join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await writeSynced(path.join(partial, 'README.md'), datasetCard(manifest, target.name));
    await writeSynced(path.join(partial, ownerFile), `${owner}\n`);
    await syncFolder(partial);
    // Asked again: while the rows were written, somebody may have put something there.
    await clearOwnFolder(folder, owner);
    await rename(partial, folder);
    await syncFolder(path.dirname(folder));
    return manifest;
  } catch (thrown) {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    throw writeFailure(folder, thrown, options.signal);
  }
}

function writerOf(files: ReadonlyMap<DatasetPart, RowFile>): DatasetWriter {
  return {
    async add(part, row) {
      return (await files.get(part)?.add(row)) ?? false;
    },
    rows: (part) => files.get(part)?.rows ?? 0,
    dropped() {
      return [...files].flatMap(([part, file]) =>
        Object.entries(DROP_HELP).flatMap(([filter, help]) => {
          const dropped = file.dropped.get(filter as SoftProblem) ?? 0;
          return dropped === 0 ? [] : [{ part, filter, dropped, flagged: null, help }];
        }),
      );
    },
  };
}

class RowFile {
  readonly #part: DatasetPart;
  readonly #handle: FileHandle;
  readonly #limits: { maxCharacters: number | null };
  readonly #signal: AbortSignal;
  readonly #hash: Hash = createHash('sha256');
  readonly #ids = new Set<string>();
  /** Digests of their messages. */
  readonly #texts = new Set<string>();
  #pending: string[] = [];
  #pendingSize = 0;
  #bytes = 0;
  readonly dropped = new Map<SoftProblem, number>();

  constructor(
    part: DatasetPart,
    handle: FileHandle,
    limits: { maxCharacters: number | null },
    signal: AbortSignal,
  ) {
    this.#part = part;
    this.#handle = handle;
    this.#limits = limits;
    this.#signal = signal;
  }

  async add(row: SftRow): Promise<boolean> {
    const problem: RowProblem | null = this.#ids.has(row.id)
      ? { kind: 'id', reason: 'not unique' }
      : rowProblem(row, this.#limits);
    if (problem !== null && isSoft(problem)) {
      this.dropped.set(problem.kind, (this.dropped.get(problem.kind) ?? 0) + 1);
      return false;
    }
    if (problem !== null) {
      const text = problemText(problem);
      throw new AppError({
        code: 'INTERNAL',
        message: `Row ${String(this.#ids.size + 1)} of ${this.#part}.jsonl is unsound (${text}). Nothing was exported; the collected data are kept. Please report it with the row’s id, ${row.id}.`,
        data: { part: this.#part, row: row.id, problem: text },
      });
    }
    this.#ids.add(row.id);
    this.#texts.add(createHash('sha256').update(JSON.stringify(row.messages)).digest('base64'));
    const line = `${JSON.stringify(row)}\n`;
    this.#pending.push(line);
    this.#pendingSize += line.length;
    if (this.#pendingSize >= CHUNK) await this.#flush();
    return true;
  }

  get rows(): number {
    return this.#ids.size;
  }

  /** Everything is on disk; no row may follow. */
  async finish(): Promise<Omit<Manifest['files'][number], 'candidates'>> {
    await this.#flush();
    await this.#handle.sync();
    return {
      part: this.#part,
      file: `${this.#part}.jsonl`,
      rows: this.rows,
      repeated: this.rows - this.#texts.size,
      bytes: this.#bytes,
      sha256: sha256Schema.parse(this.#hash.digest('hex')),
    };
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    this.#signal.throwIfAborted();
    const bytes = Buffer.from(this.#pending.join(''), 'utf8');
    this.#pending = [];
    this.#pendingSize = 0;
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    let written = 0;
    while (written < bytes.length) {
      written += (await this.#handle.write(bytes, written, bytes.length - written)).bytesWritten;
    }
  }
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A rename survives a power cut only when its folder was synced; Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function writeFailure(folder: string, thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) {
    return new AppError({
      code: 'CANCELLED',
      message: `The export to ${folder} was stopped. Nothing was left there; the collected data are kept.`,
      cause: thrown,
    });
  }
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError({
      code: 'DISK_FULL',
      message: `The disk of ${folder} is full. The half-written export was removed, the collected data are kept; free space or choose another folder, then export again.`,
      data: { folder },
      cause: thrown,
    });
  }
  if (thrown instanceof AppError || code === undefined) return thrown;
  return new AppError({
    code: 'FILE_INVALID',
    message: `The folder ${folder} cannot be written (${code}). Nothing was left there; choose another folder and export again.`,
    data: { folder },
    cause: thrown,
  });
}
