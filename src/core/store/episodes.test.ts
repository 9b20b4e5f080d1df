import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';
import {
  fixedClock,
  makeEpisode,
  makeStep,
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

function id(index: number): EpisodeId {
  return `episode-${index}` as EpisodeId;
}

describe('episodes', () => {
  it('gives back an episode and its steps exactly as they were stored', () => {
    const long = 'A very long observation. '.repeat(200);
    const episode = makeEpisode(1, {
      initialObservation: long,
      error: { code: 'TIMEOUT', message: 'late', data: { ms: 5 } },
    });
    const steps = [
      makeStep(episode.episodeId, 0),
      makeStep(episode.episodeId, 1, {
        tokens: null,
        promptHash: null,
        completion: null,
        thought: null,
        admissible: null,
        observation: long,
        valid: false,
        truncated: true,
        error: { code: 'ENVIRONMENT_CRASHED', message: 'gone', data: {} },
      }),
      makeStep(episode.episodeId, 2, {
        tokens: {
          promptPrefixLength: 0,
          promptTokens: [],
          completionTokens: [],
          logprobs: [],
          evaluatedPromptTokens: 0,
        },
        admissible: Array.from({ length: 200 }, (_, index) => `go to shelf ${index}`),
        completion: '',
        terminated: true,
      }),
    ];
    store.episodes.begin(episode);
    store.episodes.appendSteps(steps);
    expect(store.episodes.get(episode.episodeId)).toEqual({ ...episode, steps: 3, invalidActions: 1 });
    expect(store.episodes.steps(episode.episodeId)).toEqual(steps);
    expect(store.episodes.step(episode.episodeId, 1)).toEqual(steps[1]);
    expect(store.episodes.step(episode.episodeId, 9)).toBeNull();
    expect(store.counts()).toMatchObject({ episodes: 1, steps: 3 });
  });

  it('stores a step once, however often it is appended', () => {
    store.episodes.begin(makeEpisode(1));
    const first = makeStep('episode-1', 0, { action: 'look' });
    store.episodes.appendSteps([first, makeStep('episode-1', 1)]);
    store.episodes.appendSteps([makeStep('episode-1', 0, { action: 'other' })]);
    expect(store.episodes.steps(id(1)).map((step) => step.action)).toEqual(['look', 'look']);
    expect(store.counts().steps).toBe(2);
  });

  it('tells how many steps a running episode has stored so far', () => {
    const episode = makeEpisode(1, { status: 'running', steps: 0, invalidActions: 0 });
    store.episodes.begin(episode);
    store.episodes.appendSteps(
      [0, 1, 2].map((index) => makeStep(episode.episodeId, index, { valid: index !== 1 })),
    );
    const [row] = store.episodes.list({}, 'steps', { cursor: null, limit: 5 }).items;
    expect(row).toMatchObject({ steps: 3, invalidActions: 1 });
    expect(store.episodes.get(episode.episodeId)).toMatchObject({ steps: 3, invalidActions: 1 });
    store.episodes.finish({ ...episode, status: 'finished', steps: 3, invalidActions: 1 });
    expect(store.episodes.get(episode.episodeId)).toMatchObject({ steps: 3, invalidActions: 1 });
  });

  it('keeps an unfinished attempt under an id of its own when it is begun again', () => {
    store.episodes.begin(makeEpisode(1, { jobId: 'job-1' }));
    store.episodes.appendSteps([makeStep('episode-1', 0), makeStep('episode-1', 1, { valid: false })]);
    store.episodes.abandonRunning({ at: 99 });
    store.episodes.begin(makeEpisode(1, { jobId: 'job-2', retries: 4 }));
    expect(store.episodes.steps(id(1))).toEqual([]);
    expect(store.episodes.get(id(1))).toMatchObject({ retries: 4, attempt: 2, replacedBy: null });
    store.episodes.appendSteps([makeStep('episode-1', 0, { action: 'other' })]);
    store.episodes.finish(makeEpisode(1, { status: 'finished', endReason: 'terminated', steps: 1 }));
    expect(store.episodes.get(id(1))).toMatchObject({ status: 'finished', attempt: 2 });
    const [first] = store.episodes.list({ status: 'abandoned' }, 'oldest', { cursor: null, limit: 9 }).items;
    expect(first).toMatchObject({
      jobId: 'job-1',
      attempt: 1,
      replacedBy: 'episode-1',
      success: false,
      steps: 2,
      totalReward: 0.5,
      invalidActions: 1,
      finishedAt: 99,
    });
    const firstId = first?.episodeId as EpisodeId;
    expect(store.episodes.steps(firstId).map(({ stepIndex }) => stepIndex)).toEqual([0, 1]);
    expect(store.episodes.get(firstId)?.initialObservation).toBe('You are in the middle of a room.');
    expect(store.episodes.finished([id(1), firstId])).toEqual(new Set([id(1)]));
    expect(store.counts()).toMatchObject({ episodes: 2, steps: 3 });
  });

  it('uses the row of an attempt again that has come to no step', () => {
    store.episodes.begin(makeEpisode(1));
    store.episodes.begin(makeEpisode(1, { retries: 4 }));
    expect(store.episodes.get(id(1))).toMatchObject({ retries: 4, attempt: 1 });
    expect(store.counts().episodes).toBe(1);
  });

  it('gives every attempt its own id and keeps the failure of an earlier job a failure', () => {
    store.episodes.insertWhole(makeEpisode(1, { status: 'failed', steps: 1 }), [makeStep('episode-1', 0)]);
    store.episodes.begin(makeEpisode(1));
    store.episodes.appendSteps([makeStep('episode-1', 0)]);
    store.episodes.insertWhole(makeEpisode(1, { status: 'finished', steps: 1 }), [makeStep('episode-1', 0)]);
    const { items } = store.episodes.list({}, 'steps', { cursor: null, limit: 9 });
    expect(items.map(({ attempt, status }) => [attempt, status]).toSorted()).toEqual([
      [1, 'failed'],
      [2, 'abandoned'],
      [3, 'finished'],
    ]);
    expect(new Set(items.map(({ episodeId }) => episodeId)).size).toBe(3);
    expect(store.counts().steps).toBe(3);
  });

  it('lists what broke off among neither the successes nor the failures', () => {
    store.episodes.begin(makeEpisode(1));
    store.episodes.abandonRunning({ at: 99 });
    store.episodes.insertWhole(makeEpisode(2, { status: 'failed' }), []);
    store.episodes.insertWhole(makeEpisode(3, { status: 'finished' }), []);
    const { items } = store.episodes.list({ success: false }, 'oldest', { cursor: null, limit: 9 });
    expect(items.map(({ episodeId }) => episodeId)).toEqual(['episode-3']);
  });

  it('meters what an attempt had executed when its host died, once', () => {
    store.episodes.begin(makeEpisode(1));
    store.episodes.appendSteps([makeStep('episode-1', 0), makeStep('episode-1', 1)]);
    store.episodes.abandonRunning({ at: 99 });
    store.episodes.abandonRunning({ at: 100 });
    store.episodes.begin(makeEpisode(1));
    expect(store.counts().realEnvironmentSteps).toBe(2);
  });

  it('refuses to begin a finished episode again and keeps it', () => {
    store.episodes.insertWhole(makeEpisode(1, { status: 'finished', endReason: 'terminated', steps: 1 }), [
      makeStep('episode-1', 0),
    ]);
    expect(() => {
      store.episodes.begin(makeEpisode(1));
    }).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    store.episodes.insertWhole(makeEpisode(1, { status: 'finished', steps: 0 }), []);
    expect(store.episodes.steps(id(1))).toHaveLength(1);
    expect(store.episodes.finished([id(1), id(2)])).toEqual(new Set([id(1)]));
  });

  it('refuses steps of an episode that was never begun', () => {
    expect(() => {
      store.episodes.appendSteps([makeStep('nowhere', 0)]);
    }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  it('stores nothing of a call that fails in the middle', () => {
    store.episodes.begin(makeEpisode(1));
    const bad = makeStep('episode-1', 1);
    const broken = {
      ...bad,
      tokens: {
        promptPrefixLength: 0,
        promptTokens: [-1],
        completionTokens: [],
        logprobs: [],
        evaluatedPromptTokens: 0,
      },
    };
    expect(() => {
      store.episodes.appendSteps([makeStep('episode-1', 0), broken]);
    }).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(store.episodes.steps(id(1))).toEqual([]);
    expect(store.counts().steps).toBe(0);
  });

  it('marks running episodes as abandoned and counts what is stored of them', () => {
    store.episodes.begin(makeEpisode(1, { jobId: 'job-1' }));
    store.episodes.begin(makeEpisode(2, { jobId: 'job-2' }));
    store.episodes.begin(makeEpisode(3, { jobId: 'job-1' }));
    store.episodes.finish(makeEpisode(3, { jobId: 'job-1', status: 'finished', endReason: 'step-limit' }));
    store.episodes.appendSteps([makeStep('episode-1', 0), makeStep('episode-1', 1, { valid: false })]);
    expect(store.episodes.abandonRunning({ jobId: 'job-1' as JobId, at: 99 })).toBe(1);
    expect(store.episodes.get(id(1))).toMatchObject({
      status: 'abandoned',
      steps: 2,
      totalReward: 0.5,
      invalidActions: 1,
      finishedAt: 99,
    });
    expect(store.episodes.get(id(2))?.status).toBe('running');
    expect(store.episodes.abandonRunning({ at: 100 })).toBe(1);
    expect(store.episodes.get(id(3))?.status).toBe('finished');
  });
});

describe('the trajectory list', () => {
  const all = Array.from({ length: 60 }, (_, index) =>
    makeEpisode(index, {
      startedAt: 1000 + Math.floor(index / 3),
      totalReward: (index * 7) % 5,
      steps: (index * 11) % 13,
      environmentId: index % 2 === 0 ? 'household' : 'alfworld',
      split: index % 5 === 0 ? 'unseen' : 'train',
      taskType: index % 3 === 0 ? 'heat' : 'cool',
      purpose: index % 4 === 0 ? 'demonstration' : 'rollout',
      status: index % 6 === 0 ? 'failed' : 'finished',
      success: index % 7 === 0,
      jobId: index % 8 === 0 ? 'job-8' : null,
      policyKey: `policy-${index % 3}`,
      policyLabel: `Policy ${index % 3}`,
      invalidActions: index % 9 === 0 ? 2 : 0,
      error: index % 6 === 0 ? { code: 'TIMEOUT', message: 'late', data: {} } : null,
    }),
  );
  const filters: [string, EpisodeFilter, (index: number) => boolean][] = [
    ['nothing', {}, () => true],
    ['environment', { environmentId: 'alfworld' as never }, (index) => index % 2 === 1],
    ['split', { split: 'unseen' }, (index) => index % 5 === 0],
    ['task type', { taskType: 'heat' }, (index) => index % 3 === 0],
    ['purpose', { purpose: 'demonstration' }, (index) => index % 4 === 0],
    ['status', { status: 'failed' }, (index) => index % 6 === 0],
    ['success', { success: true }, (index) => index % 7 === 0 && index % 6 !== 0],
    ['failure', { success: false }, (index) => index % 7 !== 0 && index % 6 !== 0],
    ['job', { jobId: 'job-8' as JobId }, (index) => index % 8 === 0],
    ['policy', { policyKey: 'policy-2' }, (index) => index % 3 === 2],
    ['task', { taskId: 'task-4' as never }, (index) => index % 7 === 4],
    ['error code', { errorCode: 'TIMEOUT' }, (index) => index % 6 === 0],
    ['invalid actions', { hasInvalid: true }, (index) => index % 9 === 0],
    ['no invalid actions', { hasInvalid: false }, (index) => index % 9 !== 0],
    ['step range', { minimumSteps: 3, maximumSteps: 6 }, (index) => [3, 4, 5, 6].includes((index * 11) % 13)],
    ['text', { text: 'MUG 5 IN' }, (index) => index % 7 === 5],
    ['short text', { text: ' 5' }, (index) => index % 7 === 5],
    ['text with quotes and signs', { text: '"mug" % _ *' }, () => false],
    ['two at once', { split: 'train', text: 'mug 1' }, (index) => index % 5 !== 0 && index % 7 === 1],
  ];

  beforeEach(() => {
    store.transaction(() => {
      for (const episode of all) store.episodes.insertWhole(episode, []);
      // insertWhole keeps what it is given; a failed one stays failed.
    });
  });

  it.each(filters)('filters by %s', (_name, filter, matches) => {
    const page = store.episodes.list(filter, 'newest', { cursor: null, limit: 500 });
    const expected = all.filter((_, index) => matches(index)).map((episode) => episode.episodeId);
    expect(page.items.map((row) => row.episodeId).sort()).toEqual([...expected].sort());
    expect(page.total).toBe(expected.length);
    expect(page.nextCursor).toBeNull();
  });

  it.each(['newest', 'oldest', 'reward', 'steps'] as const)(
    'pages through the order "%s" without a gap or a repeat, and neighbours follow it',
    (sort) => {
      const filter: EpisodeFilter = { split: 'train' };
      const whole = store.episodes
        .list(filter, sort, { cursor: null, limit: 500 })
        .items.map((row) => row.episodeId);
      const paged: string[] = [];
      let cursor: string | null = null;
      do {
        const page = store.episodes.list(filter, sort, { cursor, limit: 7 });
        expect(page.total).toBe(cursor === null ? whole.length : null);
        paged.push(...page.items.map((row) => row.episodeId));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(paged).toEqual(whole);
      expect(new Set(paged).size).toBe(48);
      whole.forEach((episodeId, index) => {
        expect(store.episodes.neighbours(episodeId, filter, sort)).toEqual({
          previous: whole[index - 1] ?? null,
          next: whole[index + 1] ?? null,
        });
      });
    },
  );

  it('refuses a cursor of another order or no cursor at all', () => {
    const { nextCursor } = store.episodes.list({}, 'newest', { cursor: null, limit: 2 });
    for (const cursor of [nextCursor, 'nonsense', '', 'e30']) {
      expect(() => store.episodes.list({}, 'reward', { cursor, limit: 2 })).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      );
    }
  });

  it('lists the values that occur', () => {
    expect(store.episodes.facets()).toEqual({
      environments: ['alfworld', 'household'],
      taskTypes: ['cool', 'heat'],
      policies: [0, 1, 2].map((index) => ({ policyKey: `policy-${index}`, label: `Policy ${index}` })),
      errorCodes: ['TIMEOUT'],
    });
  });
});
