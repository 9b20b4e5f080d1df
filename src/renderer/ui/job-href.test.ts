import { expect, it } from 'vitest';
import { jobIdSchema } from '#shared/ids.ts';
import { jobHref } from './job-href.ts';

it('leads to the list that a job stands in: trainings have their own', () => {
  const jobId = jobIdSchema.parse('a/b');
  expect(jobHref({ jobId, kind: 'train' })).toBe('/training/jobs/a%2Fb');
  expect(jobHref({ jobId, kind: 'early-experience' })).toBe('/runs/a%2Fb');
});
