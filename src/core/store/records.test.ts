import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import { sha256Schema } from '#shared/ids.ts';
import type { DatasetId, EpisodeId, JobId, ModelId, TaskId, EnvironmentId } from '#shared/ids.ts';
import { datasetSchema } from '#shared/schema/dataset.ts';
import { conformanceResultSchema, taskSchema } from '#shared/schema/environment.ts';
import type { JobEvent } from '#shared/schema/job.ts';
import { modelSchema, threadCalibrationSchema } from '#shared/schema/model.ts';
import {
  fixedClock,
  makeEpisode,
  makeStep,
  sha,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

let store: Store;
let temporary: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  temporary = temporaryFolder();
  store = openStore({ file: `${temporary.folder}/daydream.sqlite`, clock: fixedClock(), log: silentLog });
});
afterEach(() => {
  store.close();
  temporary.remove();
});

const first = { cursor: null, limit: 10 };

describe('tokens and log-probabilities', () => {
  it('come back exactly: every id up to 2^32 − 1, every float32', () => {
    store.episodes.begin(makeEpisode(1));
    let index = 0;
    fc.assert(
      fc.property(
        fc.array(fc.nat(0xffff_ffff), { maxLength: 300 }),
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 300 }),
        (ids, logprobs) => {
          const tokens = {
            promptPrefixLength: 0,
            promptTokens: ids,
            completionTokens: ids.toReversed(),
            logprobs,
            evaluatedPromptTokens: ids.length,
          };
          store.episodes.appendSteps([makeStep('episode-1', index, { tokens })]);
          const found = store.episodes.step('episode-1' as EpisodeId, index)?.tokens;
          index += 1;
          expect(found).toEqual(tokens);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('blobs', () => {
  it('are stored once and found by their content', () => {
    const hash = store.blobs.put('grüße 🌍');
    expect(hash).toBe(sha('grüße 🌍'));
    expect(store.blobs.put(Buffer.from('grüße 🌍'))).toBe(hash);
    expect(store.blobs.getText(hash)).toBe('grüße 🌍');
    expect(store.blobs.getBytes(hash)).toEqual(Buffer.from('grüße 🌍'));
    expect(store.blobs.getText(sha('other') as typeof hash)).toBeNull();
    const empty = store.blobs.put(new Uint8Array());
    expect(store.blobs.getBytes(empty)).toEqual(Buffer.alloc(0));
  });

  it('keep texts of any length and script', () => {
    store.episodes.begin(makeEpisode(1));
    let index = 0;
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000, size: 'max' }), (text) => {
        store.episodes.appendSteps([
          makeStep('episode-1', index, {
            observation: text,
            thought: text,
            completion: text,
            admissible: [text, ''],
          }),
        ]);
        const found = store.episodes.step('episode-1' as EpisodeId, index);
        index += 1;
        expect(found).toMatchObject({
          observation: text,
          thought: text,
          completion: text,
          admissible: [text, ''],
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('models', () => {
  it('are kept with their calibration and forgotten with it', () => {
    const model = modelSchema.parse({
      modelId: 'abc',
      kind: 'gguf',
      name: 'Small',
      location: '/models/small.gguf',
      remoteName: null,
      sizeBytes: 3_000_000_000,
      sha256: sha('m'),
      facts: {
        architecture: 'llama',
        name: null,
        parameters: 5,
        quantisation: 'Q4_K_M',
        layers: 2,
        contextLength: 64,
        embeddingLength: 8,
        vocabularySize: 100,
        hasChatTemplate: true,
        chatTemplateHash: sha('t'),
      },
      problem: null,
      addedAt: 1,
    });
    store.models.upsert(model);
    store.models.upsert({
      ...model,
      name: 'Renamed',
      sha256: null,
      problem: { code: 'MODEL_FILE_INVALID', message: 'x', data: {} },
    });
    expect(store.models.get(model.modelId)).toMatchObject({ name: 'Renamed', sha256: null });
    store.models.upsert(model);
    expect(store.models.list()).toEqual([model]);
    expect(store.models.byLocation('/models/small.gguf')).toEqual(model);
    expect(store.models.byLocation('/other')).toBeNull();
    const calibration = threadCalibrationSchema.parse({
      modelId: 'abc',
      machine: 'm1',
      threads: 3,
      trials: [{ threads: 1, tokensPerSecond: 4.5 }],
      at: 9,
    });
    store.models.saveCalibration(calibration);
    expect(store.models.calibration('abc' as ModelId, 'm1')?.busyCores).toBeNull();
    store.models.saveCalibration({ ...calibration, threads: 2, busyCores: 1.5 });
    expect(store.models.calibration('abc' as ModelId, 'm1')).toEqual({
      ...calibration,
      threads: 2,
      busyCores: 1.5,
    });
    expect(store.models.calibration('abc' as ModelId, 'm2')).toBeNull();
    expect(store.models.remove('abc' as ModelId)).toBe(true);
    expect(store.models.remove('abc' as ModelId)).toBe(false);
    expect(store.models.calibration('abc' as ModelId, 'm1')).toBeNull();
  });
});

describe('data sets', () => {
  const dataset = datasetSchema.parse({
    datasetId: 'set-1',
    name: 'First',
    jobId: 'job-1',
    folder: '/exports/first',
    createdAt: 5,
    manifest: {
      format: 'daydream-early-experience/1',
      createdAt: '2026-01-01T00:00:00Z',
      application: { name: 'daydream', version: '0.1.0' },
      jobId: 'job-1',
      configSha256: sha('c'),
      config: { k: 8 },
      seed: 1,
      profile: 'default',
      deviations: [],
      environments: [],
      models: [],
      splits: ['train'],
      tasks: 1,
      demonstrations: 1,
      states: 1,
      branches: {
        executed: 0,
        accepted: 0,
        rejected: 0,
        invalid: 0,
        inadmissible: 0,
        sameAsExpert: 0,
        refilled: 0,
      },
      filters: [],
      files: [],
    },
  });

  it('know their episodes, and are entered again without doubling', () => {
    store.episodes.begin(makeEpisode(1));
    store.episodes.begin(makeEpisode(2));
    store.datasets.insert(dataset, ['episode-1', 'episode-1', 'episode-2'] as EpisodeId[]);
    store.datasets.insert(dataset, ['episode-1'] as EpisodeId[]);
    store.datasets.insert({ ...dataset, datasetId: 'set-2' as DatasetId }, []);
    expect(store.datasets.get(dataset.datasetId)).toEqual(dataset);
    expect(store.datasets.idsStartingWith('set-', 9)).toEqual(['set-1', 'set-2']);
    expect(store.datasets.idsStartingWith('set-2', 9)).toEqual(['set-2']);
    expect(store.datasets.list({ cursor: null, limit: 1 })).toMatchObject({
      total: 2,
      items: [{ datasetId: 'set-2' }],
    });
    expect(store.datasets.ofEpisode('episode-1' as EpisodeId)).toEqual([
      { datasetId: 'set-1', name: 'First' },
    ]);
    expect(store.datasets.ofEpisode('episode-2' as EpisodeId)).toEqual([]);
    expect(() => {
      store.datasets.insert({ ...dataset, datasetId: 'set-3' as DatasetId }, ['nowhere' as EpisodeId]);
    }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(store.datasets.get('set-3' as DatasetId)).toBeNull();
    expect(store.datasets.remove('set-1' as DatasetId)).toBe(true);
    expect(store.datasets.ofEpisode('episode-1' as EpisodeId)).toEqual([]);
  });
});

describe('tasks, folders, conformance, presets and settings', () => {
  it('come back as they were stored', () => {
    const task = taskSchema.parse({
      taskId: 't',
      environmentId: 'household',
      family: 'household',
      split: 'seen',
      type: 'heat',
      instruction: 'heat an egg',
      meta: { rooms: 3, big: true, name: 'x' },
    });
    store.tasks.upsert([task, task]);
    expect(store.tasks.get('household' as EnvironmentId, 't' as TaskId)).toEqual(task);
    expect(store.tasks.get('household' as EnvironmentId, 'u' as TaskId)).toBeNull();

    const folder = {
      environmentId: 'alfworld' as EnvironmentId,
      kind: 'alfworld' as const,
      folder: '/games',
      addedAt: 3,
    };
    const game = (file: string, split: 'train' | 'seen') => ({
      file,
      split,
      type: 'pick',
      instruction: 'put a mug away',
      contentHash: sha256Schema.parse('a'.repeat(64)),
    });
    store.catalogue.addFolder(folder, [game('b', 'seen'), game('a', 'train')]);
    expect(store.catalogue.games(folder.environmentId)).toEqual([game('a', 'train'), game('b', 'seen')]);
    store.catalogue.addFolder(folder, [game('c', 'train')]);
    expect(store.catalogue.folders()).toEqual([folder]);
    expect(store.catalogue.games(folder.environmentId)).toEqual([game('c', 'train')]);
    expect(store.catalogue.removeFolder(folder.environmentId)).toBe(true);
    expect(store.catalogue.removeFolder(folder.environmentId)).toBe(false);
    expect(store.catalogue.games(folder.environmentId)).toEqual([]);

    const result = conformanceResultSchema.parse({
      environmentId: 'household',
      at: 4,
      rules: [{ rule: 'solver wins', passed: true, checked: 20, unit: 'tasks', detail: '' }],
    });
    store.catalogue.saveConformance(result);
    expect(store.catalogue.conformance(result.environmentId)).toEqual(result);
    expect(store.catalogue.conformance('other' as EnvironmentId)).toBeNull();

    store.catalogue.savePreset({ presetId: 'p', title: 'P', yaml: 'kind: rollout' });
    store.catalogue.savePreset({ presetId: 'p', title: 'P2', yaml: 'kind: rollout' });
    expect(store.catalogue.presets()).toEqual([{ presetId: 'p', title: 'P2', yaml: 'kind: rollout' }]);
    expect(store.catalogue.removePreset('p')).toBe(true);

    expect(store.catalogue.settings()).toEqual({
      theme: 'system',
      modelFolders: [],
      threads: 0,
      notifications: true,
    });
    store.catalogue.saveSettings({ theme: 'dark', modelFolders: ['/m'], threads: 2, notifications: false });
    expect(store.catalogue.settings()).toEqual({
      theme: 'dark',
      modelFolders: ['/m'],
      threads: 2,
      notifications: false,
    });
  });

  it('count real environment steps over all splits', () => {
    store.addRealSteps('train', 5);
    store.addRealSteps('seen', 2);
    store.addRealSteps('train', 1);
    expect(store.counts().realEnvironmentSteps).toBe(8);
  });
});

describe('jobs', () => {
  function add(jobId: string, parentId: string | null = null, kind = 'rollout') {
    return store.jobs.insert({
      jobId: jobId as JobId,
      parentId: parentId as JobId | null,
      stage: parentId === null ? null : jobId,
      kind,
      title: jobId,
      spec: { a: [1, null] },
      seed: 3,
      at: 10,
    });
  }

  it('are found by the first characters of their ids, taken as they are', () => {
    for (const id of ['ab-1', 'ab-2', 'abc', 'b%', 'é']) add(id);
    const found = (prefix: string, limit = 10) => store.jobs.idsStartingWith(prefix, limit);
    expect(found('ab')).toEqual(['ab-1', 'ab-2', 'abc']);
    expect(found('ab', 2)).toEqual(['ab-1', 'ab-2']);
    expect(found('ab-2')).toEqual(['ab-2']);
    expect(found('%')).toEqual([]);
    expect(found('é')).toEqual(['é']);
    expect(store.episodes.idsStartingWith('ab', 10)).toEqual([]);
  });

  it('are listed newest first, by state, kind and parent', () => {
    add('a');
    add('b', 'a', 'export');
    add('c');
    const ids = (filter: Parameters<Store['jobs']['list']>[0]) =>
      store.jobs.list(filter, first).items.map((job) => job.jobId);
    expect(ids({})).toEqual(['c', 'b', 'a']);
    expect(ids({ parentId: null })).toEqual(['c', 'a']);
    expect(ids({ parentId: 'a' as JobId })).toEqual(['b']);
    expect(ids({ kind: 'rollout', state: 'queued' })).toEqual(['c', 'a']);
    const page = store.jobs.list({}, { cursor: null, limit: 2 });
    expect(page.total).toBe(3);
    expect(store.jobs.list({}, { cursor: page.nextCursor, limit: 2 }).items.map((job) => job.jobId)).toEqual([
      'a',
    ]);
    expect(store.jobs.get('a' as JobId)).toMatchObject({
      spec: { a: [1, null] },
      state: 'queued',
      attempt: 1,
    });
    expect(() => add('a')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => add('d', 'nowhere')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('merge the events of a job and its children in the order of their seq', () => {
    add('a');
    add('b', 'a');
    for (let index = 0; index < 20; index += 1) {
      store.queue.addEvents((index % 3 === 0 ? 'a' : 'b') as JobId, [
        {
          at: index,
          type: 'tick',
          level: index % 2 === 0 ? 'info' : index % 5 === 0 ? 'error' : 'warn',
          message: String(index),
          data: index % 7 === 0 ? { index, code: 'SEVENTH' } : { index },
        },
      ]);
    }
    const all = store.jobs.events('a' as JobId, { afterSeq: 0, limit: 100, includeChildren: true });
    expect(all.map((event) => event.data['index'])).toEqual(Array.from({ length: 20 }, (_, index) => index));
    const rest = store.jobs.events('a' as JobId, {
      afterSeq: all[9]?.seq ?? 0,
      limit: 5,
      includeChildren: true,
    });
    expect(rest).toEqual(all.slice(10, 15));
    expect(store.jobs.events('a' as JobId, { afterSeq: 0, limit: 100, includeChildren: false })).toHaveLength(
      7,
    );

    const pages = (filter: { level?: JobEvent['level']; code?: string }) => {
      const paged = [];
      let cursor: string | null = null;
      let total: number | null = null;
      do {
        const page = store.jobs.eventsPage('a' as JobId, filter, { cursor, limit: 3 });
        paged.push(...page.items);
        total ??= page.total;
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(total).toBe(paged.length);
      return paged;
    };
    const newest = all.toReversed();
    const serious = newest.filter(({ level }) => level !== 'info');
    const seventh = ({ data }: JobEvent) => data['code'] === 'SEVENTH';
    expect(pages({})).toEqual(newest);
    expect(pages({ level: 'info' })).toEqual(newest);
    expect(pages({ level: 'warn' })).toEqual(serious);
    expect(pages({ level: 'error' })).toEqual(newest.filter(({ level }) => level === 'error'));
    expect(pages({ code: 'SEVENTH' })).toEqual(newest.filter(seventh));
    expect(pages({ level: 'warn', code: 'SEVENTH' })).toEqual(serious.filter(seventh));
    expect(serious.filter(seventh)).toHaveLength(1);
    expect(pages({ code: 'tick' })).toEqual(newest);
  });

  it('thin a long curve to real points with its first and last', () => {
    add('a');
    store.transaction(() => {
      store.queue.addMetrics(
        'a' as JobId,
        Array.from({ length: 1000 }, (_, step) => ({ name: 'reward', step, value: step / 2, at: step })),
      );
    });
    const points = store.jobs.metrics('a' as JobId, { maxPoints: 50 });
    expect(points.length).toBeLessThanOrEqual(50);
    expect(points.length).toBeGreaterThan(40);
    expect([points[0]?.step, points.at(-1)?.step]).toEqual([0, 999]);
    for (const point of points) expect(point.value).toBe(point.step / 2);
    expect(store.jobs.metrics('a' as JobId, { names: ['loss'], maxPoints: 50 })).toEqual([]);
  });

  it('count a measured point as a sign of life, so that a silent stage is not called stalled', () => {
    add('a');
    store.transaction(() => {
      store.queue.addMetrics('a' as JobId, [{ name: 'reward', step: 1, value: 1, at: 777 }]);
    });
    expect(store.jobs.get('a' as JobId)?.lastEventAt).toBe(777);
  });

  it('are removed with their children when all have ended', () => {
    add('a');
    add('b', 'a');
    store.queue.change('a' as JobId, { state: 'failed' });
    expect(() => store.jobs.remove('a' as JobId)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    store.queue.change('b' as JobId, { state: 'succeeded' });
    expect(store.jobs.remove('a' as JobId)).toBe(true);
    expect(store.jobs.remove('a' as JobId)).toBe(false);
    expect(store.counts().jobs).toBe(0);
  });
});
