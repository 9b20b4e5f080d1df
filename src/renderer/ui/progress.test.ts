import { describe, expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { elapsedMs, progressWords, remainingMs, shownState } from './progress.ts';

const now = 1_000_000_000;
function job(change: Partial<Job>): Job {
  return {
    ...jobSchema.parse({
      jobId: 'j',
      parentId: null,
      stage: null,
      kind: 'rollout',
      title: 'A run',
      spec: {},
      seed: 1,
      state: 'running',
      attempt: 1,
      progress: { done: 25, total: 100, unit: 'episodes', phase: 'Acting' },
      result: null,
      error: null,
      createdAt: now - 60_000,
      startedAt: now - 60_000,
      finishedAt: null,
      activeMs: 0,
      activeAt: now - 60_000,
      lastEventAt: now - 1000,
    }),
    ...change,
  };
}

describe('what is shown of a job', () => {
  it('calls a running job stalled after thirty seconds without a sign, and no other job', () => {
    const silent = { lastEventAt: now - 31_000 };
    expect(shownState(job(silent), now)).toBe('stalled');
    expect(shownState(job({ lastEventAt: now - 29_000 }), now)).toBe('running');
    expect(shownState(job({ ...silent, state: 'paused' }), now)).toBe('paused');
  });

  it('takes a later sign, such as a stage’s or moved progress, as life', () => {
    expect(shownState(job({ lastEventAt: now - 90_000 }), now, now - 5000)).toBe('running');
  });

  it('estimates what is left from the rate so far', () => {
    expect(remainingMs(job({}), now)).toBe(180_000);
  });

  it('estimates nothing from too little, from an unknown total, from stages, or when it does not run', () => {
    const progress = { done: 1, total: 100, unit: 'episodes', phase: '' };
    expect(remainingMs(job({ progress }), now)).toBeNull();
    expect(remainingMs(job({ progress: { ...progress, total: null } }), now)).toBeNull();
    expect(remainingMs(job({ progress: { done: 1, total: 4, unit: 'stages', phase: '' } }), now)).toBeNull();
    expect(remainingMs(job({ state: 'paused' }), now)).toBeNull();
  });

  it('counts the stages of a pipeline in words: a percentage is always of one stage', () => {
    const stages = { done: 1, total: 4, unit: 'stages', phase: 'Branches' };
    expect(progressWords(job({ progress: stages }))).toBe('Branches, stage 2 of 4');
    expect(progressWords(job({ progress: stages, state: 'failed' }))).toBe('1 of 4 stages');
    expect(progressWords(job({}))).toBe('25 % of 100 episodes');
    expect(progressWords(job({ state: 'succeeded' }))).toBe('25 of 100 episodes');
    expect(progressWords(job({ state: 'queued', progress: null }))).toBe('waiting for its turn');
  });

  it('lets elapsed time run while the job runs and stand when it does not', () => {
    expect(elapsedMs(job({}), now)).toBe(60_000);
    expect(elapsedMs(job({ state: 'succeeded', activeMs: 42_000, activeAt: null }), now)).toBe(42_000);
  });

  it('leaves out the time in which the job was paused, also after it goes on', () => {
    const resumed = job({ startedAt: now - 60_000, activeMs: 15_000, activeAt: now - 2_000 });
    expect(elapsedMs(resumed, now)).toBe(17_000);
  });
});
