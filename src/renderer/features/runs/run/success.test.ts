import { expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { successOf, withoutSuccess } from './success.ts';

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
  expect(successOf(job(null), points)).toEqual([{ name: 'all', scored: 8, successes: 1 }]);
  expect(successOf(job(null), [point('branches-accepted', 1, 3)])).toEqual([]);
});

it('tells of a result its own counts, which are not told again below', () => {
  const byTaskType = { pick: { scored: 10, successes: 4 }, look: { scored: 6, successes: 0 } };
  const result = { episodes: 17, scored: 16, successes: 4, successRate: 0.25, byTaskType, failed: 1 };
  expect(successOf(job(result), []).map(({ name }) => name)).toEqual(['look', 'pick', 'all']);
  expect(withoutSuccess(result)).toEqual({ episodes: 17, failed: 1 });
});
