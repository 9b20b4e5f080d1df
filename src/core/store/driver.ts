/**
 * The only file that imports SQLite. A `Connection` is one open database file: cached statements, joined transactions, and
 * SQLite's failures turned into AppErrors. It knows no table.
 *
 * WAL with `synchronous = FULL` (ADR 0015): when a call that writes returns, its rows are on the disk, not only in the
 * operating system's cache.
 */
import Database from 'better-sqlite3';
import { AppError } from '#shared/errors.ts';

export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlParameters = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;
/** Column values as SQLite returns them; repositories parse them before they leave the store. */
export type SqlRow = Record<string, SqlValue>;

export interface Connection {
  readonly file: string;
  readonly readOnly: boolean;
  /** Number of changed rows. */
  run(sql: string, parameters?: SqlParameters): number;
  get(sql: string, parameters?: SqlParameters): SqlRow | undefined;
  all(sql: string, parameters?: SqlParameters): SqlRow[];
  /** Several statements without parameters. */
  exec(sql: string): void;
  pragma(text: string): SqlValue;
  /** An inner call joins the outer transaction; what it wrote is undone if it throws, even when the caller goes on. */
  transaction<Result>(work: () => Result): Result;
  backup(file: string): Promise<void>;
  close(): void;
}

/** Long enough that of two hosts which start together one always gets the lock, short enough that nobody notices. */
const lockTimeoutMs = 250;

/** Throws FILE_NOT_FOUND, STORE_CORRUPT or DISK_FULL. `lockOnly` opens without WAL, for lock files. */
export function openConnection(
  file: string,
  options: { readOnly?: boolean; lockOnly?: boolean } = {},
): Connection {
  const readOnly = options.readOnly === true;
  const database = translate(
    file,
    () =>
      new Database(file, { readonly: readOnly, timeout: options.lockOnly === true ? lockTimeoutMs : 10_000 }),
  );
  try {
    translate(file, () => {
      if (options.lockOnly === true) return;
      if (!readOnly) {
        database.pragma('journal_mode = WAL');
        database.pragma('synchronous = FULL');
        // A checkpoint copies each changed page once: rarer checkpoints copy fewer pages of a growing table twice.
        database.pragma('wal_autocheckpoint = 4000');
        database.pragma('journal_size_limit = 67108864');
      }
      database.pragma('foreign_keys = ON');
      database.pragma('cache_size = -65536');
      database.pragma('temp_store = MEMORY');
    });
  } catch (error) {
    database.close();
    throw error;
  }
  return wrap(database, file, readOnly);
}

function wrap(database: Database.Database, file: string, readOnly: boolean): Connection {
  const statements = new Map<string, Database.Statement<unknown[], SqlRow>>();
  let depth = 0;

  function prepare(sql: string): Database.Statement<unknown[], SqlRow> {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare<unknown[], SqlRow>(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  function requireOpenTransaction(): void {
    // A full disk can make SQLite roll back on its own; a later statement would then commit by itself, half of the work.
    if (depth > 0 && !database.inTransaction) {
      throw new AppError({
        code: 'DISK_FULL',
        message: `The transaction on ${file} was rolled back. Nothing of it was stored.`,
      });
    }
  }

  return {
    file,
    readOnly,
    run: (sql, parameters = []) =>
      translate(file, () => {
        requireOpenTransaction();
        return prepare(sql).run(parameters).changes;
      }),
    get: (sql, parameters = []) => translate(file, () => prepare(sql).get(parameters)),
    all: (sql, parameters = []) => translate(file, () => prepare(sql).all(parameters)),
    exec: (sql) =>
      translate(file, () => {
        requireOpenTransaction();
        database.exec(sql);
      }),
    pragma: (text) => translate(file, () => database.pragma(text, { simple: true }) as SqlValue),
    transaction<Result>(work: () => Result): Result {
      requireOpenTransaction();
      const outermost = depth === 0;
      const name = `level${depth}`;
      translate(file, () => prepare(outermost ? 'BEGIN IMMEDIATE' : `SAVEPOINT ${name}`).run());
      depth += 1;
      try {
        const result = work();
        if (result instanceof Promise) throw new TypeError('A transaction must be synchronous.');
        requireOpenTransaction();
        translate(file, () => prepare(outermost ? 'COMMIT' : `RELEASE ${name}`).run());
        return result;
      } catch (error) {
        if (database.inTransaction) {
          if (outermost) prepare('ROLLBACK').run();
          else {
            prepare(`ROLLBACK TO ${name}`).run();
            prepare(`RELEASE ${name}`).run();
          }
        }
        throw error;
      } finally {
        depth -= 1;
      }
    },
    async backup(target) {
      try {
        await database.backup(target);
      } catch (error) {
        throw translateError(target, error);
      }
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

function translate<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw translateError(file, error);
  }
}

function translateError(file: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const { code } = error;
  if (code.startsWith('SQLITE_FULL') || code === 'SQLITE_IOERR_WRITE') {
    return new AppError({
      code: 'DISK_FULL',
      message: `The disk that holds ${file} is full or refuses to be written. What was stored before is intact; the last write was undone as a whole. Free some space, then resume the job.`,
      data: { file },
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    return storeCorrupt(file, error.message, error);
  }
  if (code === 'SQLITE_CANTOPEN' || code === 'SQLITE_READONLY' || code === 'SQLITE_PERM') {
    return new AppError({
      code: 'FILE_NOT_FOUND',
      message: `${file} cannot be opened: ${error.message}. Check that the folder exists and that you may write there.`,
      data: { file },
      cause: error,
    });
  }
  return error;
}

/** What a user does about a damaged store: keep the file, put a backup in its place. */
export function storeCorrupt(file: string, reason: string, cause?: unknown): AppError {
  return new AppError({
    code: 'STORE_CORRUPT',
    message:
      `The store ${file} is damaged: ${reason}. Nothing was changed. Keep this file (move it and its -wal file aside), ` +
      `copy your last backup to ${file} and start again; without a backup a new, empty store is made there.`,
    data: { file, reason },
    cause,
  });
}

/** The file is locked by another connection or process. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** SQLite refused the statement itself: wrong SQL, or a schema other than the one that it was written for. */
export function isStatementError(error: unknown): error is Error {
  return error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR';
}
