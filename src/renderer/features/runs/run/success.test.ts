import { expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { intervalWords, rateWords, successRows, withoutSuccess } from './success.ts';

function job(result: Job['result']): Job {
  return jobSchema.parse({
    jobId: 'j',
    parentId: null,
    stage: null,
    kind: 'rollout',
    title: 'Acting',
    spec: {},
    seed: 1,
    state: result === null ? 'running' : 'succeeded',
    attempt: 1,
    progress: null,
    result,
    error: null,
    createdAt: 0,
    startedAt: 0,
    finishedAt: null,
    activeMs: 0,
    activeAt: null,
    lastEventAt: 0,
  });
}
const { jobId } = job(null);
const point = (name: string, step: number, value: number) => ({ jobId, name, step, value, at: step });

it('counts what was scored while it runs: an episode that broke is no failure of the policy', () => {
  const points = [
    point('success-rate', 9, 0),
    point('success-rate', 10, 1 / 8),
    point('episodes-scored', 10, 8),
    point('episodes-scored', 9, 7),
  ];
  expect(successRows(job(null), points)).toEqual([{ name: 'all', scored: 8, successes: 1 }]);
  expect(successRows(job(null), [point('branches-accepted', 1, 3)])).toEqual([]);
});

it('tells each task type and all of them, each with its interval', () => {
  const byTaskType = { pick: { scored: 10, successes: 4 }, look: { scored: 6, successes: 0 } };
  const result = { episodes: 17, scored: 16, successes: 4, successRate: 0.25, byTaskType, failed: 1 };
  const rows = successRows(job(result), []);
  expect(rows.map((row) => [row.name, rateWords(row), intervalWords(row)])).toEqual([
    ['look', '0.0 %', '0.0 to 39.0 %'],
    ['pick', '40.0 %', '16.8 to 68.7 %'],
    ['all', '25.0 %', '10.2 to 49.5 %'],
  ]);
  expect(withoutSuccess(result)).toEqual({ episodes: 17, failed: 1 });
});

it('says nothing of a rate where nothing was scored', () => {
  const row = { name: 'all', scored: 0, successes: 0 };
  expect([rateWords(row), intervalWords(row)]).toEqual(['–', '–']);
});
