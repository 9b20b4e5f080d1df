import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStoreReader, openStore } from '#core/store/index.ts';
import type { Store, StoreReader } from '#core/store/port.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import {
  fixedClock,
  makeBranch,
  makeEpisode,
  makeReflection,
  makeStep,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

const first = { cursor: null, limit: 50 };
const episodeId = 'episode-1' as EpisodeId;
const jobId = 'job-1' as JobId;
const repository = path.resolve(import.meta.dirname, '../../..');
let temporary: ReturnType<typeof temporaryFolder>;
let store: Store;
let reader: StoreReader;

beforeEach(() => {
  temporary = temporaryFolder();
  const file = `${temporary.folder}/daydream.sqlite`;
  store = openStore({ file, clock: fixedClock(), log: silentLog });
  reader = createStoreReader({ file, log: silentLog });
  store.episodes.begin(makeEpisode(1));
  store.episodes.appendSteps([makeStep(episodeId, 0)]);
  store.branches.insert(Array.from({ length: 450 }, (_, index) => makeBranch(episodeId, index, 0)));
  store.reflections.insert([makeReflection(episodeId, 0)]);
});
afterEach(async () => {
  await reader.close();
  store.close();
  temporary.remove();
});

describe('the store reader', () => {
  it('answers what the store answers, with everything that is committed', async () => {
    expect(await reader.episodes.list({}, 'newest', first)).toEqual(store.episodes.list({}, 'newest', first));
    expect(await reader.episodes.facets()).toEqual(store.episodes.facets());
    expect(await reader.episodes.get(episodeId)).toEqual(store.episodes.get(episodeId));
    expect(await reader.episodes.steps(episodeId)).toEqual(store.episodes.steps(episodeId));
    expect(await reader.branches.ofEpisode(episodeId)).toEqual(store.branches.ofEpisode(episodeId));
    expect(await reader.branches.ofEpisode(episodeId, jobId)).toHaveLength(450);
    expect(await reader.branches.ofEpisode(episodeId, 'other' as JobId)).toEqual([]);
    expect(await reader.branches.summary(jobId)).toEqual(store.branches.summary(jobId));
    expect(await reader.reflections.list({}, first)).toEqual(store.reflections.list({}, first));
    expect(await reader.counts()).toEqual(store.counts());
    store.episodes.begin(makeEpisode(2));
    expect((await reader.counts()).episodes).toBe(2);
    expect(await reader.episodes.neighbours(episodeId, {}, 'oldest')).toEqual({
      previous: null,
      next: 'episode-2',
    });
  });

  it('passes typed errors on', async () => {
    await expect(reader.episodes.list({}, 'newest', { cursor: 'x', limit: 5 })).rejects.toMatchObject({
      name: 'AppError',
      code: 'INVALID_INPUT',
    });
  });

  it('rejects an aborted call at once and goes on with the next', async () => {
    const abort = new AbortController();
    const call = reader.episodes.list({}, 'newest', first, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(reader.episodes.list({}, 'newest', first, { signal: abort.signal })).rejects.toThrow(
      'enough',
    );
    expect((await reader.episodes.list({}, 'newest', first)).items).toHaveLength(1);
  });

  it('says what is wrong with a store that it cannot read, and stays usable', async () => {
    const broken = createStoreReader({ file: `${temporary.folder}/missing.sqlite`, log: silentLog });
    await expect(broken.counts()).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    writeFileSync(`${temporary.folder}/missing.sqlite`, 'rubbish');
    await expect(broken.counts()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    await broken.close();
    await expect(broken.counts()).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('rejects what is open when the thread dies', async () => {
    const entry = path.join(temporary.folder, 'dying.mjs');
    writeFileSync(
      entry,
      "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(7));",
    );
    const dying = createStoreReader({ file: store.file, log: silentLog, entry: new URL(`file://${entry}`) });
    await expect(dying.counts()).rejects.toThrow('exit code 7');
    await expect(dying.counts()).rejects.toThrow('exit code 7');
    await dying.close();
  });

  it('lets a process end that forgot to close it, but not before its answer', () => {
    const script = `
      const { createStoreReader } = await import('#core/store/index.ts');
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const reader = createStoreReader({ file: ${JSON.stringify(store.file)}, log });
      console.log((await reader.counts()).episodes);`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: repository,
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(printed.trim()).toBe('1');
  });
});
