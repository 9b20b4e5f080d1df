import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#core/store/index.ts';
import { branchStateKey } from '#core/store/port.ts';
import type { Store } from '#core/store/port.ts';
import type { BranchId, EpisodeId, JobId, ReflectionId } from '#shared/ids.ts';
import {
  fixedClock,
  makeBranch,
  makeEpisode,
  makeReflection,
  sha,
  silentLog,
  temporaryFolder,
} from '#test/helpers/store-records.ts';

const episodeId = 'episode-1' as EpisodeId;
const jobId = 'job-1' as JobId;
let store: Store;
let temporary: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  temporary = temporaryFolder();
  store = openStore({ file: `${temporary.folder}/daydream.sqlite`, clock: fixedClock(), log: silentLog });
  store.episodes.begin(makeEpisode(1));
});
afterEach(() => {
  store.close();
  temporary.remove();
});

describe('branches', () => {
  it('gives back each branch exactly as it was stored, in order of state and alternative', () => {
    const branches = [
      makeBranch(episodeId, 1, 1),
      makeBranch(episodeId, 1, 0, { proposal: null, observation: 'long '.repeat(500) }),
      makeBranch(episodeId, 0, 0, {
        purpose: 'sr',
        source: 'refill',
        status: 'rejected',
        rejectReason: 'desync',
        error: { code: 'BRANCH_DESYNC', message: 'other state', data: {} },
        proof: { method: 'replay', expectedHash: sha('a'), observedHash: sha('b'), prefixLength: 4 },
      }),
    ];
    store.branches.insert(branches);
    expect(store.branches.ofEpisode(episodeId)).toEqual([branches[2], branches[1], branches[0]]);
    expect(store.branches.ofState(episodeId, 1, 'iwm')).toEqual([branches[1], branches[0]]);
    expect(store.branches.ofState(episodeId, 1, 'sr')).toEqual([]);
    expect(store.branches.get(branches[0]?.branchId as BranchId)).toEqual(branches[0]);
    expect(store.branches.countByStep(episodeId)).toEqual(
      new Map([
        [0, 1],
        [1, 2],
      ]),
    );
    expect(store.branches.doneStates(jobId)).toEqual(
      new Set([branchStateKey('iwm', episodeId, 1), branchStateKey('sr', episodeId, 0)]),
    );
    expect(store.branches.summary(jobId)).toEqual({
      executed: 3,
      expert: 0,
      iwm: 2,
      sr: 1,
      accepted: 2,
      rejected: 1,
      invalid: 0,
      inadmissible: 0,
      sameAsExpert: 0,
      refilled: 0,
      unasked: 0,
    });
  });

  it('counts by purpose and by status, and what became of the accepted ones alone', () => {
    const rejected = { status: 'rejected', rejectReason: 'desync', valid: false, admissible: false };
    store.branches.insert([
      makeBranch(episodeId, 0, 0, { purpose: 'expert', source: 'expert', sameAsExpert: true }),
      makeBranch(episodeId, 0, 1, { valid: false, admissible: false }),
      makeBranch(episodeId, 0, 2, { sameAsExpert: true }),
      makeBranch(episodeId, 0, 3, { purpose: 'sr', source: 'refill' }),
      makeBranch(episodeId, 0, 4, { purpose: 'sr', source: 'unasked' }),
      makeBranch(episodeId, 0, 5, { purpose: 'sr', source: 'refill', ...rejected }),
    ]);
    expect(store.branches.summary(jobId)).toEqual({
      executed: 6,
      expert: 1,
      iwm: 2,
      sr: 3,
      accepted: 5,
      rejected: 1,
      invalid: 1,
      inadmissible: 1,
      sameAsExpert: 1,
      refilled: 1,
      unasked: 1,
    });
  });

  it('stores a branch once, and gives those of all jobs or of one', () => {
    const branch = makeBranch(episodeId, 0, 0);
    const other = makeBranch(episodeId, 0, 0, { branchId: 'of-job-2', jobId: 'job-2', source: 'policy' });
    const nobodys = makeBranch(episodeId, 0, 0, { branchId: 'of-none', jobId: null });
    store.branches.insert([branch, branch]);
    store.branches.insert([branch]);
    store.branches.insert([other, nobodys, nobodys]);
    expect(store.counts().branches).toBe(3);
    expect(store.branches.ofEpisode(episodeId)).toEqual([branch, other, nobodys]);
    expect(store.branches.ofState(episodeId, 0)).toEqual([branch, other, nobodys]);
    expect(store.branches.ofEpisode(episodeId, jobId)).toEqual([branch]);
    expect(store.branches.ofEpisode(episodeId, 'job-2' as JobId)).toEqual([other]);
    expect(store.branches.ofEpisode(episodeId, 'job-3' as JobId)).toEqual([]);
    expect(store.branches.countByStep(episodeId)).toEqual(new Map([[0, 3]]));
  });

  it('stores none of a call that names an unknown episode', () => {
    expect(() => {
      store.branches.insert([makeBranch(episodeId, 0, 0), makeBranch('nowhere', 0, 0)]);
    }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(store.counts().branches).toBe(0);
  });
});

describe('reflections', () => {
  const reflections = [
    makeReflection(episodeId, 0),
    makeReflection(episodeId, 1, {
      keptByFilters: false,
      droppedBy: ['numbering'],
      flags: [
        { flag: 'numbering', evidence: 'alternative 2' },
        { flag: 'too-long', evidence: '300 words' },
      ],
    }),
    makeReflection(episodeId, 2, { jobId: null, generatorModelId: null, prompt: 'p'.repeat(4000) }),
  ];
  const first = { cursor: null, limit: 100 };

  beforeEach(() => {
    store.jobs.insert({
      jobId,
      parentId: null,
      stage: null,
      kind: 'reflection',
      title: '',
      spec: {},
      seed: 1,
      at: 0,
    });
    store.reflections.insert(reflections);
  });

  it('gives back each reflection exactly as it was stored', () => {
    expect(store.reflections.ofEpisode(episodeId)).toEqual(reflections);
    expect(store.reflections.ofEpisode(episodeId, jobId)).toEqual(reflections.slice(0, 2));
  });

  it('filters by flag, decision, job, episode and what is kept', () => {
    const ids = (filter: Parameters<Store['reflections']['list']>[0]) =>
      store.reflections.list(filter, first).items.map((reflection) => reflection.stepIndex);
    expect(ids({})).toEqual([0, 1, 2]);
    expect(ids({ flag: 'too-long' })).toEqual([1]);
    expect(ids({ kept: true })).toEqual([0, 2]);
    expect(ids({ jobId, kept: false })).toEqual([1]);
    expect(ids({ episodeId, decision: 'keep' })).toEqual([]);
  });

  it('lets a review override the filters, and a taken back review not', () => {
    const { reflectionId } = reflections[1] as { reflectionId: ReflectionId };
    const reviewed = store.reflections.review(reflectionId, { decision: 'keep', reason: 'good', at: 5 });
    expect(reviewed).toEqual({ ...reflections[1], review: { decision: 'keep', reason: 'good', at: 5 } });
    expect(store.reflections.get(reflectionId)).toEqual(reviewed);
    expect(store.reflections.list({ kept: true }, first).total).toBe(3);
    store.reflections.review(reflectionId, { decision: 'pending', reason: '', at: null });
    expect(store.reflections.list({ kept: true }, first).total).toBe(2);
    expect(() => store.reflections.review('none' as ReflectionId, reviewed.review)).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
  });

  it('counts as waiting for a review only what stands: neither what the filters dropped nor what a person decided', () => {
    expect(store.counts()).toMatchObject({ reflections: 3, reflectionsToReview: 2 });
    const [first, second] = reflections.map(({ reflectionId }) => reflectionId);
    if (first === undefined || second === undefined) throw new Error('no reflection');
    store.reflections.review(first, { decision: 'keep', reason: 'good', at: 5 });
    store.reflections.review(second, { decision: 'keep', reason: 'good', at: 5 });
    expect(store.counts().reflectionsToReview).toBe(1);
    store.reflections.review(second, { decision: 'pending', reason: '', at: null });
    expect(store.counts().reflectionsToReview).toBe(1);
  });

  it('of a removed run wait for nobody, and stay with their episode', () => {
    store.queue.change(jobId, { state: 'succeeded' });
    expect(store.jobs.remove(jobId)).toBe(true);
    expect(store.counts()).toMatchObject({ reflections: 3, reflectionsToReview: 1 });
    expect(store.reflections.list({ decision: 'pending' }, first)).toMatchObject({
      total: 1,
      items: [{ stepIndex: 2 }],
    });
    expect(store.reflections.list({ episodeId }, first).total).toBe(3);
  });

  it('keeps a review when the same reflection is inserted again', () => {
    const { reflectionId } = reflections[0] as { reflectionId: ReflectionId };
    store.reflections.review(reflectionId, { decision: 'drop', reason: 'wrong', at: 5 });
    store.reflections.insert(reflections);
    expect(store.reflections.get(reflectionId)?.review.decision).toBe('drop');
    expect(store.reflections.list({}, { cursor: null, limit: 2 })).toMatchObject({ total: 3 });
  });

  it('are found with all other attempts of their run at the same state', () => {
    const one = reflections[0];
    if (one === undefined) throw new Error('no reflection');
    const again = { ...one, reflectionId: `${one.reflectionId}-again` as ReflectionId, attempt: 1 };
    const elsewhere = {
      ...one,
      reflectionId: `${one.reflectionId}-later` as ReflectionId,
      stepIndex: one.stepIndex + 40,
    };
    store.reflections.insert([again, elsewhere]);
    expect(store.reflections.attempts([again])).toEqual([one, again]);
    expect(store.reflections.attempts([one, again, elsewhere])).toEqual([one, again, elsewhere]);
    expect(store.reflections.attempts([])).toEqual([]);
  });

  it('pages in order', () => {
    const page = store.reflections.list({}, { cursor: null, limit: 2 });
    const rest = store.reflections.list({}, { cursor: page.nextCursor, limit: 2 });
    expect([...page.items, ...rest.items]).toEqual(reflections);
    expect(rest.nextCursor).toBeNull();
  });
});
