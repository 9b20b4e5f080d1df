import { expect, it } from 'vitest';
import { jobIdSchema } from '#shared/ids.ts';
import type { JobEvent, MetricPoint } from '#shared/schema/job.ts';
import { lastCheckpoint, lastOf, policyHref } from './training-result.ts';
import type { TrainingResult } from './training-result.ts';

const jobId = jobIdSchema.parse('job');
const result: TrainingResult = {
  file: '/data folder/a&b.gguf',
  kind: 'adapter',
  modelId: null,
  baseModelId: 'base-1',
  baseSha256: null,
  recipe: 'il',
  updates: 2,
  trainedTokens: 10,
  stages: [],
};

function query(href: string): Record<string, string> {
  return Object.fromEntries(new URL(href, 'http://host').searchParams);
}

it('an adapter acts on its base, a whole model by itself', () => {
  expect(query(policyHref(result))).toMatchObject({
    model: 'base-1',
    adapter: '/data folder/a&b.gguf',
    // Not on the tasks that it was trained on.
    split: 'development',
  });
  const model = query(policyHref({ ...result, kind: 'model', modelId: 'new-1' }));
  expect(model['model']).toBe('new-1');
  expect(model).not.toHaveProperty('adapter');
});

it('takes the value of the last update, whatever the order of the points', () => {
  const point = (step: number, value: number): MetricPoint => ({
    jobId,
    name: 'rowTokens',
    step,
    value,
    at: 0,
  });
  expect(lastOf([point(2, 20), point(3, 30), point(1, 10)], 'rowTokens')).toBe(30);
  expect(lastOf([], 'rowTokens')).toBeNull();
});

it('finds the newest checkpoint among the events', () => {
  const event = (seq: number, type: string, data: JobEvent['data']): JobEvent => ({
    seq,
    jobId,
    at: seq,
    type,
    level: 'info',
    message: '',
    data,
  });
  const events = [
    event(3, 'training-opened', {}),
    event(2, 'checkpoint-saved', { update: 50 }),
    event(1, 'checkpoint-saved', { update: 25 }),
  ];
  expect(lastCheckpoint(events)).toEqual({ update: 50, at: 2 });
  expect(lastCheckpoint([])).toBeNull();
});
