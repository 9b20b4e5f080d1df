import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import { firstSchema } from '#core/store/migrations/0001-first.ts';
import { applicationId, schemaVersion } from '#core/store/migrations/index.ts';
import type { Store } from '#core/store/port.ts';
import { AppError } from '#shared/errors.ts';
import type { EnvironmentId, EpisodeId, JobId } from '#shared/ids.ts';
import {
  fixedClock,
  makeBranch,
  makeEpisode,
  makeReflection,
  makeStep,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  temporary = temporaryFolder();
  file = `${temporary.folder}/daydream.sqlite`;
});
afterEach(() => {
  temporary.remove();
});

function open(path = file): Store {
  return openStore({ file: path, clock: fixedClock(), log: silentLog });
}

function fill(store: Store, episodes = 3): void {
  for (let index = 0; index < episodes; index += 1) {
    const episode = makeEpisode(index, { status: 'finished', initialObservation: 'long '.repeat(400) });
    store.episodes.insertWhole(
      episode,
      Array.from({ length: 10 }, (_, step) => makeStep(episode.episodeId, step)),
    );
    store.branches.insert([makeBranch(episode.episodeId, 0, 0), makeBranch(episode.episodeId, 0, 1)]);
    store.reflections.insert([makeReflection(episode.episodeId, 0)]);
  }
}

/** Everything a user could look at. Rows that cannot be read must say so; they must not be something else. */
function readAll(store: Store): void {
  const page = store.episodes.list({}, 'newest', { cursor: null, limit: 100 });
  for (const { episodeId } of page.items) {
    store.episodes.get(episodeId);
    store.episodes.steps(episodeId);
    store.branches.ofEpisode(episodeId);
    store.reflections.ofEpisode(episodeId);
  }
  store.episodes.facets();
  store.counts();
  store.jobs.list({}, { cursor: null, limit: 10 });
  store.catalogue.settings();
}

/** Where the header and the texts of the schema lie in the file (those in one piece on their page). */
function offsetsOfSchema(path: string): number[] {
  const database = new Database(path, { readonly: true });
  const texts = database
    .prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')
    .pluck()
    .all();
  database.close();
  const bytes = readFileSync(path);
  const offsets = Array.from({ length: 100 }, (_, index) => index);
  for (const text of texts) {
    const start = bytes.indexOf(text);
    if (start >= 0)
      for (let index = 0; index < Buffer.byteLength(text); index += 1) offsets.push(start + index);
  }
  expect(offsets.length).toBeGreaterThan(1000);
  return offsets;
}

describe('opening a store', () => {
  it('makes a new one, keeps what is in it, and opens it again', () => {
    const store = open();
    fill(store);
    const { total } = store.episodes.list({}, 'newest', { cursor: null, limit: 1 });
    store.close();
    const again = open();
    expect(again.episodes.list({}, 'newest', { cursor: null, limit: 1 }).total).toBe(total);
    expect(again.counts()).toMatchObject({ episodes: 3, steps: 30, branches: 6 });
    again.close();
  });

  it('brings a store of the first version to this one and keeps what it holds', () => {
    const database = new Database(file);
    database.exec(firstSchema);
    database.exec(
      `INSERT INTO environment_folders VALUES ('alfworld', 'alfworld', '/games', 3);
       PRAGMA user_version = 1; PRAGMA application_id = ${String(applicationId)};`,
    );
    database.close();
    const store = open();
    expect(store.check()).toBeNull();
    const [folder] = store.catalogue.folders();
    expect(folder).toMatchObject({ folder: '/games', addedAt: 3 });
    expect(store.catalogue.games('alfworld' as EnvironmentId)).toEqual([]);
    store.close();
  });

  it('refuses a store of a newer version and leaves it as it is', () => {
    open().close();
    const database = new Database(file);
    database.pragma('user_version = 99');
    database.close();
    const before = readFileSync(file);
    expect(() => open()).toThrow(
      expect.objectContaining({ code: 'STORE_TOO_NEW', data: { file, found: 99, known: schemaVersion } }),
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('refuses a database of another application and leaves it as it is', () => {
    const database = new Database(file);
    database.exec('PRAGMA application_id = 7; CREATE TABLE theirs (x)');
    database.close();
    const before = readFileSync(file);
    expect(() => open()).toThrow(expect.objectContaining({ code: 'STORE_CORRUPT' }));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('finishes a first migration that was killed before it was committed', () => {
    writeFileSync(file, '');
    fill(open(), 1);
  });

  it('tells what to do with a damaged file', () => {
    writeFileSync(file, 'This is a text about databases. '.repeat(100));
    expect(() => open()).toThrow(
      expect.objectContaining({ code: 'STORE_CORRUPT', data: expect.objectContaining({ file }) }),
    );
    expect(() => open()).toThrow(/Keep this file.*copy your last backup/);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('says so when its folder cannot be written', () => {
    writeFileSync(file, 'a file, not a folder');
    expect(() => open(`${file}/daydream.sqlite`)).toThrow(expect.objectContaining({ code: 'FILE_INVALID' }));
    expect(() => open(temporary.folder)).toThrow(expect.objectContaining({ code: 'FILE_NOT_FOUND' }));
  });

  it('meets any truncated or overwritten file with a clear error or with readable rows, never with anything else', () => {
    const store = open();
    fill(store);
    store.close();
    const good = `${temporary.folder}/good`;
    copyFileSync(file, good);
    const { length } = readFileSync(good);
    const schemaOffsets = offsetsOfSchema(good);
    let refused = 0;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat(length - 1).map((size) => ({ size, patches: [] as [number, Uint8Array][] })),
          fc
            .array(fc.tuple(fc.nat(length - 1), fc.uint8Array({ minLength: 1, maxLength: 64 })), {
              minLength: 1,
              maxLength: 20,
            })
            .map((patches) => ({ size: length, patches })),
          // The header and the schema's texts, where one byte changes what all others mean.
          fc
            .array(
              fc.tuple(fc.constantFrom(...schemaOffsets), fc.uint8Array({ minLength: 1, maxLength: 4 })),
              {
                minLength: 1,
                maxLength: 2,
              },
            )
            .map((patches) => ({ size: length, patches })),
        ),
        ({ size, patches }) => {
          for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
          const bytes = readFileSync(good);
          for (const [offset, patch] of patches) bytes.set(patch.subarray(0, length - offset), offset);
          writeFileSync(file, bytes);
          truncateSync(file, size);
          let damaged: Store | null = null;
          try {
            damaged = open();
            readAll(damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            expect((error as AppError).code).toMatch(/^STORE_CORRUPT$|^STORE_TOO_NEW$/);
            refused += 1;
          } finally {
            try {
              damaged?.close();
            } catch (error) {
              expect(error).toBeInstanceOf(AppError);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(50);
  }, 60_000);
});

describe('a backup', () => {
  it('is a whole store, made while the store is used', async () => {
    const store = open();
    fill(store);
    const target = `${temporary.folder}/one.backup.sqlite`;
    const made = store.backup(target);
    store.episodes.begin(makeEpisode(77));
    expect((await made).bytes).toBeGreaterThan(10_000);
    const copy = open(target);
    expect(copy.episodes.get('episode-1' as EpisodeId)).toEqual(store.episodes.get('episode-1' as EpisodeId));
    expect(copy.branches.summary('job-1' as JobId)).toEqual(store.branches.summary('job-1' as JobId));
    copy.close();
    await expect(store.backup(file)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(store.backup(temporary.folder)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    const precious = `${temporary.folder}/precious.txt`;
    writeFileSync(precious, 'mine');
    await expect(store.backup(precious)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(readFileSync(precious, 'utf8')).toBe('mine');
    const mistyped = `${temporary.folder}/no-such-folder/one.sqlite`;
    await expect(store.backup(mistyped)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    store.close();
  });
});
