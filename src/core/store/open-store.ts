/** Opens the store: check, migrate, assemble. One process writes; others read through store-reader. */
import { existsSync, openSync, readSync, closeSync, renameSync, rmSync, statSync, fsyncSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '#core/make-folder.ts';
import { createBlobStore } from '#core/store/blobs.ts';
import { createBranchStore } from '#core/store/branches.ts';
import { createCatalogueStore } from '#core/store/catalogue.ts';
import { numberOf } from '#core/store/columns.ts';
import { createDatasetStore } from '#core/store/datasets.ts';
import { isStatementError, openConnection, storeCorrupt } from '#core/store/driver.ts';
import type { Connection } from '#core/store/driver.ts';
import { createEpisodeStore } from '#core/store/episodes.ts';
import { collectBlobs } from '#core/store/garbage.ts';
import { createJobQueueStore } from '#core/store/job-queue.ts';
import { createJobStore } from '#core/store/jobs.ts';
import { createMeters, realStepsPrefix } from '#core/store/meters.ts';
import { applicationId, hasExpectedSchema, migrate, schemaVersion } from '#core/store/migrations/index.ts';
import { createModelStore } from '#core/store/models.ts';
import type { Store, StoreCounts } from '#core/store/port.ts';
import { createReflectionStore, ofStoredRun } from '#core/store/reflections.ts';
import { createTaskStore } from '#core/store/tasks.ts';
import type { Clock, Logger } from '#core/ports.ts';
import { AppError, toAppError } from '#shared/errors.ts';

const sqliteMagic = 'SQLite format 3\0';

/**
 * Creates the file when it is missing. Throws STORE_CORRUPT (damaged, truncated, or not Daydream's), STORE_TOO_NEW, DISK_FULL;
 * the file is left as it was found then.
 */
export function openStore(options: { file: string; clock: Clock; log: Logger }): Store {
  const { file, clock, log } = options;
  makeFolder(path.dirname(path.resolve(file)));
  const isNew = !existsSync(file) || statSync(file).size === 0;
  if (!isNew) checkHeader(file);
  const startedAt = clock.now();
  const connection = understood(file, () => openConnection(file));
  let blobsRemoved = 0;
  try {
    understood(file, () => {
      if (!isNew) checkIntegrity(connection);
      migrate(connection);
      if (!isNew && !hasExpectedSchema(connection))
        throw storeCorrupt(file, 'its tables are not the ones that Daydream made');
    });
    blobsRemoved = collect(connection, log);
  } catch (error) {
    connection.close();
    throw error;
  }
  log.info({ file, isNew, schemaVersion, blobsRemoved, tookMs: clock.now() - startedAt }, 'store-opened');
  return assembleStore(connection, log);
}

/**
 * Runs statements that are right for each schema that Daydream ever made. When SQLite does not understand one all the same, it does
 * not understand what the file says of itself.
 */
function understood<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw isStatementError(error) ? storeCorrupt(file, error.message, error) : error;
  }
}

/** The same store on a read-only connection, for the reader thread. Writing methods throw. */
export function openReadOnlyStore(file: string): Store {
  checkHeader(file);
  return assembleStore(openConnection(file, { readOnly: true }), null);
}

/** @param log null for a reader, which writes nothing that could fail at its end */
function assembleStore(connection: Connection, log: Logger | null): Store {
  const { file } = connection;
  const blobs = createBlobStore(connection);
  const meters = createMeters(connection);

  function counts(): StoreCounts {
    const row = connection.get(`SELECT (SELECT count(*) FROM jobs) AS jobs,
      (SELECT count(*) FROM jobs WHERE state IN ('running', 'pausing', 'cancelling')) AS running,
      (SELECT count(*) FROM episodes) AS episodes, (SELECT count(*) FROM reflections) AS reflections,
      (SELECT count(*) FROM reflections WHERE decision = 'pending' AND kept = 1 AND ${ofStoredRun}) AS pending,
      (SELECT count(*) FROM datasets) AS datasets, (SELECT count(*) FROM models) AS models`);
    return {
      jobs: numberOf(row, 'jobs'),
      runningJobs: numberOf(row, 'running'),
      episodes: numberOf(row, 'episodes'),
      steps: meters.read('steps'),
      branches: meters.read('branches'),
      reflections: numberOf(row, 'reflections'),
      reflectionsToReview: numberOf(row, 'pending'),
      datasets: numberOf(row, 'datasets'),
      models: numberOf(row, 'models'),
      realEnvironmentSteps: meters.sum(realStepsPrefix),
    };
  }

  return {
    file,
    episodes: createEpisodeStore(connection, blobs, meters),
    branches: createBranchStore(connection, blobs, meters),
    reflections: createReflectionStore(connection, blobs),
    jobs: createJobStore(connection),
    queue: createJobQueueStore(connection),
    datasets: createDatasetStore(connection),
    models: createModelStore(connection),
    tasks: createTaskStore(connection),
    catalogue: createCatalogueStore(connection),
    blobs,
    counts,
    check() {
      const found = connection.pragma('quick_check(1)');
      return found === 'ok' ? null : String(found);
    },
    transaction: (work) => connection.transaction(work),
    addRealSteps(split, steps) {
      meters.add(`${realStepsPrefix}${split}`, steps);
    },
    backup: (target) => backup(connection, target),
    close() {
      try {
        // Keeps the planner's statistics fresh; SQLite decides whether anything is worth measuring.
        if (!connection.readOnly) connection.exec('PRAGMA optimize');
      } catch (error) {
        // A full disk is no reason to stay open.
        log?.warn({ reason: toAppError(error).message }, 'statistics-not-kept');
      } finally {
        connection.close();
      }
    },
  };
}

/** A full disk is no reason not to open: what is to be removed does no harm and is removed another time. */
function collect(connection: Connection, log: Logger): number {
  try {
    return collectBlobs(connection, createMeters(connection));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DISK_FULL') throw error;
    log.warn({ reason: error.message }, 'blobs-not-collected');
    return 0;
  }
}

/** Before SQLite touches it: opening a file in WAL mode may write to it, and a damaged file must stay as it is. */
function checkHeader(file: string): void {
  let header: Buffer;
  try {
    const descriptor = openSync(file, 'r');
    try {
      header = Buffer.alloc(100);
      const length = readSync(descriptor, header, 0, 100, 0);
      header = header.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `The store ${file} cannot be read. Check that it exists, is a file, and that you may read it.`,
      data: { file },
      cause: error,
    });
  }
  if (header.length < 100 || header.toString('latin1', 0, 16) !== sqliteMagic) {
    throw storeCorrupt(file, 'it does not begin like a database');
  }
  // Bytes 18 and 19: 1 or 2. SQLite opens a file with a later write version for reading only, which would look like a missing right.
  if ((header[18] ?? 0) > 2 || (header[19] ?? 0) > 2)
    throw storeCorrupt(file, 'its format is one that SQLite does not know');
  // Bytes 68–71 are the application id. 0 is a file whose first migration never ended.
  const found = header.readUInt32BE(68);
  if (found !== 0 && found !== applicationId)
    throw storeCorrupt(file, 'it is a database of another application');
}

function checkIntegrity(connection: Connection): void {
  const problem = connection.pragma('quick_check(1)');
  if (problem !== 'ok') throw storeCorrupt(connection.file, String(problem));
}

/** Online: the store stays usable. The target appears whole or not at all. */
async function backup(connection: Connection, target: string): Promise<{ bytes: number }> {
  const resolved = path.resolve(target);
  if (resolved === path.resolve(connection.file)) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: 'A backup needs another file than the store itself.',
    });
  }
  // Not made here: a folder that is missing is more likely a mistyped path or a disk that is not mounted.
  if (!existsSync(path.dirname(resolved))) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `There is no folder ${path.dirname(resolved)}; nothing was written. Make it, or mount its disk, and back up again.`,
      data: { file: resolved },
    });
  }
  const present = statSync(resolved, { throwIfNoEntry: false });
  if (present?.isDirectory() === true) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `${resolved} is a folder; nothing was written. Name a file in it, for example ${path.join(resolved, 'daydream-backup.sqlite')}.`,
      data: { file: resolved },
    });
  }
  if (present !== undefined) {
    throw new AppError({
      code: 'FILE_EXISTS',
      message: `${resolved} exists already; it was left as it is, and nothing was written. Choose another name, or move that file away.`,
      data: { file: resolved },
    });
  }
  const temporary = `${resolved}.partial`;
  rmSync(temporary, { force: true });
  try {
    await connection.backup(temporary);
    const descriptor = openSync(temporary, 'r+');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, resolved);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return { bytes: statSync(resolved).size };
}
