import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBlobStore } from '#core/store/blobs.ts';
import { createBranchStore } from '#core/store/branches.ts';
import { createDatasetStore } from '#core/store/datasets.ts';
import { openConnection } from '#core/store/driver.ts';
import type { Connection, SqlParameters } from '#core/store/driver.ts';
import { createEpisodeStore } from '#core/store/episodes.ts';
import { createJobQueueStore } from '#core/store/job-queue.ts';
import { createJobStore } from '#core/store/jobs.ts';
import { createMeters } from '#core/store/meters.ts';
import { migrate } from '#core/store/migrations/index.ts';
import { createReflectionStore } from '#core/store/reflections.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';
import { temporaryFolder } from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let connection: Connection;
let asked: { sql: string; parameters: SqlParameters }[];
/** Records every statement; repositories work on it as on the real one. */
let recording: Connection;

beforeEach(() => {
  temporary = temporaryFolder();
  connection = openConnection(`${temporary.folder}/test.sqlite`);
  migrate(connection);
  asked = [];
  recording = {
    ...connection,
    get(sql, parameters = []) {
      asked.push({ sql, parameters });
      return connection.get(sql, parameters);
    },
    all(sql, parameters = []) {
      asked.push({ sql, parameters });
      return connection.all(sql, parameters);
    },
  };
});
afterEach(() => {
  connection.close();
  temporary.remove();
});

/** Steps of SQLite's plans that read a whole table instead of an index. */
function fullScans(): string[] {
  return asked.flatMap(({ sql, parameters }) =>
    connection
      .all(`EXPLAIN QUERY PLAN ${sql}`, parameters)
      .map((row) => String(row['detail']))
      // Small by nature: the list of ids in a parameter, the row before in a recursion, the search table (its own index).
      .filter(
        (detail) =>
          detail.startsWith('SCAN') &&
          !/USING|json_each|VIRTUAL TABLE|SCAN (found|tree|CONSTANT)/.test(detail),
      ),
  );
}

const first = { cursor: null, limit: 100 };
const filters: EpisodeFilter[] = [
  {},
  { environmentId: 'household' as never },
  { split: 'train' },
  { taskType: 'heat' },
  { purpose: 'rollout' },
  { status: 'finished' },
  { success: true },
  { jobId: 'job' as JobId },
  { policyKey: 'policy' },
  { taskId: 'task' as never },
  { errorCode: 'TIMEOUT' },
  { hasInvalid: true },
  { hasInvalid: false },
  { minimumSteps: 3 },
  { maximumSteps: 9 },
  { text: 'clean mug' },
  { environmentId: 'household' as never, split: 'seen', success: false, text: 'mug', minimumSteps: 2 },
];

describe('each list is answered from an index', () => {
  it.each(filters)(
    'episodes with %j, in each order, first and deep pages, counts and neighbours',
    (filter) => {
      const episodes = createEpisodeStore(recording, createBlobStore(recording), createMeters(recording));
      for (const sort of ['newest', 'oldest', 'reward', 'steps'] as const) {
        episodes.list(filter, sort, first);
        const cursor = Buffer.from(JSON.stringify([`episodes-${sort}`, [5, 5]])).toString('base64url');
        episodes.list(filter, sort, { cursor, limit: 100 });
      }
      expect(asked.length).toBe(12);
      expect(fullScans()).toEqual([]);
    },
  );

  it('the newest page of each single filter needs no sorting', () => {
    const episodes = createEpisodeStore(recording, createBlobStore(recording), createMeters(recording));
    for (const filter of filters.slice(0, 13)) episodes.list(filter, 'newest', first);
    const sorted = asked.filter(({ sql, parameters }) =>
      connection
        .all(`EXPLAIN QUERY PLAN ${sql}`, parameters)
        .some((row) => String(row['detail']).includes('TEMP B-TREE')),
    );
    expect(sorted).toEqual([]);
  });

  it('facets, single episodes and their steps', () => {
    const episodes = createEpisodeStore(recording, createBlobStore(recording), createMeters(recording));
    episodes.facets();
    episodes.get('e' as EpisodeId);
    episodes.steps('e' as EpisodeId);
    episodes.step('e' as EpisodeId, 3);
    episodes.finished(['e' as EpisodeId]);
    expect(fullScans()).toEqual([]);
  });

  it('branches', () => {
    const branches = createBranchStore(recording, createBlobStore(recording), createMeters(recording));
    branches.ofEpisode('e' as EpisodeId);
    branches.ofState('e' as EpisodeId, 3, 'iwm');
    branches.countByStep('e' as EpisodeId);
    branches.doneStates('j' as JobId);
    branches.summary('j' as JobId);
    branches.ofEpisode('e' as EpisodeId, 'j' as JobId);
    expect(fullScans()).toEqual([]);
  });

  it('reflections by each filter', () => {
    const reflections = createReflectionStore(recording, createBlobStore(recording));
    for (const filter of [
      { jobId: 'j' as JobId },
      { episodeId: 'e' as EpisodeId },
      { flag: 'numbering' },
      { decision: 'pending' as const },
      { kept: true },
    ]) {
      reflections.list(filter, first);
    }
    reflections.ofEpisode('e' as EpisodeId, 'j' as JobId);
    reflections.attempts([{ episodeId: 'e' as EpisodeId, jobId: 'j' as JobId, stepIndex: 1 }]);
    expect(fullScans()).toEqual([]);
  });

  it('jobs, events, metrics, data sets and the claim', () => {
    const jobs = createJobStore(recording);
    const datasets = createDatasetStore(recording);
    for (const filter of [
      { state: 'queued' as const },
      { kind: 'rollout' },
      { parentId: null },
      { parentId: 'p' as JobId },
    ]) {
      jobs.list(filter, first);
    }
    jobs.status('j' as JobId);
    jobs.children('p' as JobId);
    jobs.childByStage('p' as JobId, 'one');
    jobs.insert({
      jobId: 'p' as JobId,
      parentId: null,
      stage: null,
      kind: 'k',
      title: '',
      spec: {},
      seed: 1,
      at: 1,
    });
    asked = [];
    jobs.events('p' as JobId, { afterSeq: 0, limit: 10, includeChildren: true });
    jobs.eventsPage('p' as JobId, { level: 'warn', code: 'c' }, first);
    jobs.eventsPage('p' as JobId, {}, first);
    jobs.metrics('p' as JobId, { maxPoints: 10 });
    datasets.ofEpisode('e' as EpisodeId);
    createJobQueueStore(recording).renew({ owner: 'o', at: 1, leaseUntil: 2 });
    createJobQueueStore(recording).claim({ owner: 'o', kinds: ['k'], at: 1, leaseUntil: 2 });
    // The thinning of a curve numbers the rows of one index range that it has read.
    expect(
      fullScans().filter((detail) => detail !== 'SCAN (subquery-2)' && detail !== 'SCAN (subquery-3)'),
    ).toEqual([]);
  });
});
