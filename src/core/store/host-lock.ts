/**
 * One host per data folder. The lock is SQLite's exclusive file lock on `host.lock`: the operating system frees it when the
 * process ends, however it ends, so no stale lock is possible and no process id must be judged. (Nothing else may open that file:
 * POSIX frees a process's locks on a file when it closes any handle of it.)
 *
 * `host.json` (0600) says who holds the lock and where it listens. It is information, not the lock.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { makeFolder } from '#core/make-folder.ts';
import { isBusy, openConnection } from '#core/store/driver.ts';
import type { Connection } from '#core/store/driver.ts';
import { AppError } from '#shared/errors.ts';

export interface HostAddress {
  /** Of the WebSocket on 127.0.0.1. */
  port: number;
  token: string;
  pid: number;
}

export interface HostLock {
  readonly folder: string;
  /** Writes `host.json`, so that a second window or the CLI can attach. */
  publish(address: { port: number; token: string }): void;
  /** Idempotent. */
  release(): void;
}

const holderSchema = z.object({
  pid: z.int().positive(),
  port: z.int().min(1).max(65_535).nullable(),
  token: z.string().min(1).nullable(),
  /** When it took the lock, milliseconds since the epoch; an older version wrote none. */
  since: z.int().nullable().default(null),
});

/**
 * Throws HOST_LOCKED with the holder's pid and whether it can be attached to.
 * @param now milliseconds since the epoch
 */
export function acquireHostLock(folder: string, now: number = Date.now()): HostLock {
  makeFolder(folder);
  const connection = lock(folder, now);
  let held = true;
  // Replaces what a killed host left behind; from here on `host.json` is ours.
  writeHolder(folder, { pid: process.pid, port: null, token: null, since: now });
  return {
    folder,
    publish(address) {
      if (held) writeHolder(folder, { pid: process.pid, ...address, since: now });
    },
    release() {
      if (!held) return;
      held = false;
      rmSync(holderFile(folder), { force: true });
      connection.close();
    },
  };
}

/** Where the running host listens; null when none published an address (or the file cannot be read). */
export function readHostAddress(folder: string): HostAddress | null {
  const holder = readHolder(folder);
  if (holder === null || holder.port === null || holder.token === null) return null;
  return { port: holder.port, token: holder.token, pid: holder.pid };
}

function lock(folder: string, now: number): Connection {
  const file = path.join(folder, 'host.lock');
  try {
    return openLocked(file, folder, now);
  } catch (error) {
    // SQLite reads the file only after it got at it, so nobody holds this one; and it holds no data.
    if (!(error instanceof AppError) || error.code !== 'STORE_CORRUPT') throw error;
    rmSync(file, { force: true });
    return openLocked(file, folder, now);
  }
}

function openLocked(file: string, folder: string, now: number): Connection {
  const connection = openConnection(file, { lockOnly: true });
  try {
    connection.exec('BEGIN EXCLUSIVE');
    return connection;
  } catch (error) {
    connection.close();
    throw isBusy(error) ? locked(folder, now, error) : error;
  }
}

function locked(folder: string, now: number, cause: unknown): AppError {
  const holder = readHolder(folder);
  const pid = holder?.pid ?? null;
  const who = pid === null ? 'Another Daydream' : `Another Daydream (process ${pid})`;
  const next =
    holder?.port === null || holder === null
      ? `It does not listen yet${sinceWhen(holder?.since ?? null, now)}: it is starting, or it is a command that ends by itself. Try again in a moment; else close it, or choose another data folder with --data-dir.`
      : 'Commands attach to it by themselves; close it to open the folder here, or choose another with --data-dir.';
  return new AppError({
    code: 'HOST_LOCKED',
    message: `${who} uses the data folder ${folder}. Nothing was changed. ${next}`,
    data: { folder, pid, port: holder?.port ?? null, since: holder?.since ?? null },
    cause,
  });
}

/** For how long the lock has been held; nothing where it is not known, or a clock was set back. */
function sinceWhen(since: number | null, now: number): string {
  if (since === null || now < since) return '';
  const seconds = Math.floor((now - since) / 1000);
  if (seconds < 2) return ', it came just now';
  return seconds < 120
    ? `, after ${String(seconds)} seconds`
    : `, after ${String(Math.floor(seconds / 60))} minutes`;
}

function holderFile(folder: string): string {
  return path.join(folder, 'host.json');
}

function readHolder(folder: string): z.infer<typeof holderSchema> | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(holderFile(folder), 'utf8')));
  } catch {
    // Missing or half-written by something else: as good as not there.
    return null;
  }
}

/** Whole or not at all, and readable by this user only: the token lets its reader act as the user. */
function writeHolder(folder: string, holder: z.infer<typeof holderSchema>): void {
  const temporary = `${holderFile(folder)}.${process.pid}`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  renameSync(temporary, holderFile(folder));
}
