/**
 * `npm run bench -- store`: how fast step rows are written, against a bare insert of the same payload, and how fast the trajectory
 * list answers through the reader thread at 1,000,000 steps (a store made once under .cache/).
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { createStoreReader, openStore } from '../src/core/store/index.ts';
import type { Store, StoreReader } from '../src/core/store/port.ts';
import type { EpisodeFilter } from '../src/shared/schema/episode.ts';
import type { Episode, Step } from '../src/shared/schema/episode.ts';
import type { Sha256 } from '../src/shared/ids.ts';
import { median, medianOfPairs } from './lib/figure.ts';
import type { Bench, BenchOptions, Figure } from './lib/figure.ts';

const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const clock = { now: () => Date.now() };
const digest = 'ab'.repeat(32) as Sha256;
const batch = 1000;
const stepsPerEpisode = 25;

function ignore(): void {
  // The figures are the output.
}

function makeEpisode(index: number): Episode {
  const kind = index % 6;
  return {
    episodeId: `bench-${index}` as Episode['episodeId'],
    jobId: `job-${index % 40}` as Episode['jobId'],
    purpose: index % 3 === 0 ? 'demonstration' : 'rollout',
    environmentId: (index % 4 === 0 ? 'alfworld' : 'household') as Episode['environmentId'],
    environmentVersion: '1.0.0',
    dataChecksum: digest,
    taskId: `task-${index % 3274}` as Episode['taskId'],
    taskType: `type-${kind}`,
    split: index % 10 === 0 ? 'unseen' : 'train',
    instruction: `put a clean object ${index % 3274} in container ${kind}`,
    policy: {
      kind: 'solver',
      modelId: null,
      modelSha256: null,
      adapterSha256: [],
      chatTemplateHash: null,
      settings: {},
    },
    policyKey: `policy-${index % 12}`,
    policyLabel: `Policy ${index % 12}`,
    seed: index,
    rolloutIndex: 0,
    status: index % 50 === 0 ? 'failed' : 'finished',
    endReason: 'terminated',
    success: index % 3 !== 1,
    totalReward: index % 3 === 1 ? 0 : 1,
    steps: stepsPerEpisode - (index % 7),
    invalidActions: index % 5 === 0 ? 2 : 0,
    parseFailures: 0,
    promptTokens: 1500,
    evaluatedPromptTokens: 1500,
    completionTokens: 1000,
    modelMs: 900,
    environmentMs: 3,
    retries: 0,
    attempt: 1,
    replacedBy: null,
    initialObservation: 'You are in the middle of a room.',
    initialAdmissible: null,
    error: index % 50 === 0 ? { code: 'MODEL_CRASHED', message: 'gone', data: {} } : null,
    startedAt: 1_700_000_000_000 + index * 1000,
    finishedAt: 1_700_000_000_500 + index * 1000,
  };
}

/** 150 characters of observation, 30 admissible actions, 60 prompt tokens, 40 completion tokens with log-probabilities. */
function makeStep(episodeId: Step['episodeId'], stepIndex: number): Step {
  return {
    episodeId,
    stepIndex,
    promptHash: digest,
    tokens: {
      promptPrefixLength: 400,
      promptTokens: Array.from({ length: 60 }, (_, index) => 1000 + index * 7 + stepIndex),
      completionTokens: Array.from({ length: 40 }, (_, index) => 2000 + index * 11 + stepIndex),
      logprobs: Array.from({ length: 40 }, (_, index) => -index / 8),
      evaluatedPromptTokens: 60,
    },
    completion: '<think>The mug may be on the desk.</think><action>go to desk 1</action>',
    thought: 'The mug may be on the desk.',
    action: 'go to desk 1',
    parseStatus: 'ok',
    valid: true,
    observation: `You arrive at desk ${stepIndex}. On the desk you see a mug. `.padEnd(150, 'x'),
    admissible: Array.from({ length: 30 }, (_, index) => `go to cabinet ${index + stepIndex}`),
    observationHash: digest,
    reward: 0,
    terminated: false,
    truncated: false,
    error: null,
    modelMs: 30,
    environmentMs: 1,
    createdAt: 1_700_000_000_000 + stepIndex,
  };
}

function perSecond(rows: number, work: () => void): number {
  const startedAt = performance.now();
  work();
  return (rows / (performance.now() - startedAt)) * 1000;
}

/** The same bytes through one prepared statement into one table with one unique index: what SQLite itself can do. */
function bareWriter(file: string): (steps: readonly Step[], key: number) => void {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('wal_autocheckpoint = 4000');
  database.pragma('cache_size = -65536');
  database.exec(`CREATE TABLE steps (k INTEGER PRIMARY KEY, episode INTEGER NOT NULL, step INTEGER NOT NULL, prompt_hash BLOB,
    prefix INTEGER, evaluated INTEGER, prompt BLOB, completion_tokens BLOB, logprobs BLOB, completion TEXT, thought TEXT,
    action TEXT, parse TEXT, valid INTEGER, observation TEXT, admissible TEXT, hash BLOB, reward REAL, terminated INTEGER,
    truncated INTEGER, error TEXT, model_ms INTEGER, environment_ms INTEGER, created_at INTEGER) STRICT;
    CREATE UNIQUE INDEX by_episode ON steps (episode, step)`);
  const insert = database.prepare(
    `INSERT INTO steps VALUES (NULL, ${Array.from({ length: 23 }, () => '?').join(', ')})`,
  );
  const hash = Buffer.from(digest, 'hex');
  const rows = (steps: readonly Step[], key: number) =>
    steps.map((step, index) => [
      key + index,
      step.stepIndex,
      hash,
      step.tokens?.promptPrefixLength ?? 0,
      step.tokens?.evaluatedPromptTokens ?? 0,
      Buffer.from(Uint32Array.from(step.tokens?.promptTokens ?? []).buffer),
      Buffer.from(Uint32Array.from(step.tokens?.completionTokens ?? []).buffer),
      Buffer.from(Float32Array.from(step.tokens?.logprobs ?? []).buffer),
      step.completion,
      step.thought,
      step.action,
      step.parseStatus,
      1,
      step.observation,
      JSON.stringify(step.admissible),
      hash,
      step.reward,
      0,
      0,
      null,
      step.modelMs,
      step.environmentMs,
      step.createdAt,
    ]);
  return (steps, key) => {
    const payload = rows(steps, key);
    database.transaction(() => {
      for (const row of payload) insert.run(row);
    })();
  };
}

async function writing({ quick, say }: BenchOptions): Promise<Figure> {
  const folder = mkdtempSync(path.join(tmpdir(), 'daydream-bench-store-'));
  try {
    const store = openStore({ file: path.join(folder, 'ours.sqlite'), clock, log });
    const bare = bareWriter(path.join(folder, 'bare.sqlite'));
    const batches = quick ? 5 : 20;
    let next = 0;
    /** Made outside the clock: 40 episodes of 25 steps are one batch. */
    function work(): { episodes: Episode[]; steps: Step[] } {
      const episodes = Array.from({ length: batch / stepsPerEpisode }, (_, index) =>
        makeEpisode(next + index),
      );
      next += episodes.length;
      return {
        episodes,
        steps: episodes.flatMap((episode) =>
          Array.from({ length: stepsPerEpisode }, (_, step) => makeStep(episode.episodeId, step)),
        ),
      };
    }
    const pairs = await medianOfPairs(
      () => {
        const todo = Array.from({ length: batches }, work);
        for (const { episodes } of todo) {
          store.transaction(() => {
            for (const episode of episodes) store.episodes.begin({ ...episode, status: 'running' });
          });
        }
        return perSecond(batches * batch, () => {
          for (const { steps } of todo) store.episodes.appendSteps(steps);
        });
      },
      () => {
        const todo = Array.from({ length: batches }, work);
        return perSecond(batches * batch, () => {
          for (const [index, { steps }] of todo.entries()) bare(steps, (next + index) * batch);
        });
      },
      quick ? 5 : 7,
    );
    say(`step rows: ${Math.round(pairs.value)}/s, bare insert ${Math.round(pairs.baseline)}/s`);
    store.close();
    return {
      figure: `step rows written, ${batch} a transaction`,
      value: pairs.value,
      unit: 'rows/s',
      baseline: pairs.baseline,
      ratio: pairs.ratio,
      bar: 'value >= 20000',
      ok: pairs.value >= 20_000,
      note: 'baseline: one prepared better-sqlite3 insert of the same payload, same pragmas',
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 40,000 episodes of 25 steps, made once. */
function millionSteps({ say, signal }: BenchOptions): string {
  const folder = path.resolve(import.meta.dirname, '../.cache/bench-store');
  const file = path.join(folder, 'million-v1.sqlite');
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const partial = `${file}.partial`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(partial + suffix, { force: true });
  say('making a store of 1,000,000 steps (once)');
  const store = openStore({ file: partial, clock, log });
  for (let index = 0; index < 40_000; index += 40) {
    signal.throwIfAborted();
    if (index % 4_000 === 0) say(`${String(index / 400)} % of the store of 1,000,000 steps`);
    store.transaction(() => {
      for (let own = index; own < index + 40; own += 1) {
        const episode = makeEpisode(own);
        store.episodes.begin({ ...episode, status: 'running' });
        store.episodes.appendSteps(
          Array.from({ length: stepsPerEpisode }, (_, step) => makeStep(episode.episodeId, step)),
        );
        store.episodes.finish(episode);
      }
    });
  }
  store.close();
  renameSync(partial, file);
  return file;
}

const filters: [string, EpisodeFilter][] = [
  ['no filter', {}],
  ['environment', { environmentId: 'alfworld' as never }],
  ['split', { split: 'unseen' }],
  ['task type', { taskType: 'type-3' }],
  ['purpose', { purpose: 'demonstration' }],
  ['status', { status: 'failed' }],
  ['success', { success: true }],
  ['job', { jobId: 'job-7' as never }],
  ['policy', { policyKey: 'policy-5' }],
  ['task', { taskId: 'task-99' as never }],
  ['error code', { errorCode: 'MODEL_CRASHED' }],
  ['invalid actions', { hasInvalid: true }],
  ['step range', { minimumSteps: 20, maximumSteps: 22 }],
  ['text', { text: 'object 77 in' }],
  ['short text', { text: '77' }],
  [
    'five filters',
    { environmentId: 'household' as never, split: 'train', success: true, hasInvalid: false, text: 'clean' },
  ],
  ['nothing matches', { taskType: 'type-1', success: true, split: 'unseen', text: 'container 2' }],
];

async function listing(options: BenchOptions): Promise<Figure[]> {
  const file = millionSteps(options);
  const store: Store = openStore({ file, clock, log });
  const reader: StoreReader = createStoreReader({ file, log });
  const runs = options.quick ? 3 : 7;
  try {
    options.say(`reading ${String(filters.length * 2 + 3)} lists, ${String(runs)} times each`);
    const { steps } = await reader.counts();
    async function medianMs(work: () => Promise<unknown>): Promise<number> {
      const times: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        const startedAt = performance.now();
        await work();
        times.push(performance.now() - startedAt);
      }
      return median(times);
    }
    const measured: [string, number][] = [];
    for (const [name, filter] of filters) {
      for (const sort of ['newest', 'reward'] as const) {
        const ms = await medianMs(() => reader.episodes.list(filter, sort, { cursor: null, limit: 100 }));
        measured.push([`${name}, ${sort}`, ms]);
      }
    }
    let cursor: string | null = null;
    for (let page = 0; page < 79; page += 1) {
      cursor = (await reader.episodes.list({}, 'newest', { cursor, limit: 500 })).nextCursor;
    }
    measured.push([
      'page 80 of 500',
      await medianMs(() => reader.episodes.list({}, 'newest', { cursor, limit: 500 })),
    ]);
    measured.push(['facets', await medianMs(() => reader.episodes.facets())]);
    measured.push(['counts', await medianMs(() => reader.counts())]);
    const worst = measured.toSorted((a, b) => b[1] - a[1])[0] ?? ['nothing', Number.NaN];
    const opening = measured[0]?.[1] ?? Number.NaN;
    for (const [name, ms] of measured) options.say(`${name}: ${ms.toFixed(1)} ms`);
    return [
      listFigure(`trajectory list opens at ${steps} steps`, opening, ''),
      listFigure(
        `trajectory list filters at ${steps} steps, worst of ${measured.length} medians`,
        worst[1],
        worst[0],
      ),
    ];
  } finally {
    await reader.close();
    store.close();
  }
}

function listFigure(figure: string, value: number, note: string): Figure {
  return {
    figure,
    value,
    unit: 'ms',
    baseline: null,
    ratio: null,
    bar: 'value < 200',
    ok: value < 200,
    note,
  };
}

export default {
  name: 'store',
  summary: 'step rows a second, and the trajectory list at 1,000,000 steps',
  async run(options) {
    return [await writing(options), ...(await listing(options))];
  },
} satisfies Bench;
