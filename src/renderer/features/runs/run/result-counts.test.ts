import { describe, expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { countsSoFar, episodesOf, numbersOf, rowsOf, soFarTitle } from './result-counts.ts';

function job(change: object): Job {
  return jobSchema.parse({
    jobId: 'j',
    parentId: 'p',
    stage: 'branching',
    kind: 'branching',
    title: 'Branches',
    spec: {},
    seed: 1,
    state: 'paused',
    attempt: 1,
    progress: { done: 79, total: 339, unit: 'states', phase: 'Branching' },
    result: null,
    error: null,
    createdAt: 0,
    startedAt: 0,
    finishedAt: null,
    activeMs: 17_000,
    activeAt: null,
    lastEventAt: 17_000,
    ...change,
  });
}
const { jobId } = job({});
const point = (name: string, step: number, value: number) => ({ jobId, name, step, value, at: step });

describe('what a stage has counted', () => {
  it('is, without a result, how far it is and the ends of its curves', () => {
    const points = [
      point('branches-accepted', 79, 948),
      point('branches-accepted', 78, 936),
      point('branches-rejected', 79, 0),
      point('invalid-share', 79, 0.2),
    ];
    expect(countsSoFar(job({}), points)).toEqual([
      ['States', 79],
      ['Branches accepted', 948],
      ['Branches rejected', 0],
    ]);
  });

  it('is of one moment, also when progress is told before what was measured with it', () => {
    const points = [point('branches-accepted', 37, 432), point('environment-steps', 37, 462)];
    expect(countsSoFar(job({ state: 'running' }), points)).toEqual([
      ['States', 37],
      ['Branches accepted', 432],
      ['Real environment steps', 462],
    ]);
    expect(countsSoFar(job({ state: 'running' }), [])).toEqual([['States', 79]]);
    const progress = { done: 3, total: 30, unit: 'demonstrations', phase: 'Proving' };
    expect(countsSoFar(job({ progress }), [point('completion-tokens', 30, 0)])[0]).toEqual([
      'Demonstrations',
      3,
    ]);
  });

  it('is nothing for a stage that waits, and says so', () => {
    const waiting = job({ state: 'queued', progress: null });
    expect(countsSoFar(waiting, [])).toEqual([]);
    expect(soFarTitle(waiting)).toBe('Not started yet');
  });

  it('says until when the numbers hold', () => {
    expect(soFarTitle(job({}))).toBe('Until the pause');
    expect(soFarTitle(job({ state: 'cancelled' }))).toBe('Until it stopped');
    expect(soFarTitle(job({ state: 'running' }))).toBe('So far');
  });

  it('is, for an export, the rows of each part', () => {
    const result = {
      datasetId: 'd',
      files: [{ part: 'expert_sft', rows: 30, bytes: 9 }],
      branches: { executed: 4 },
    };
    expect(rowsOf(result)).toEqual([['expert_sft', 30]]);
    expect(numbersOf(result)).toEqual([['Branches executed', 4]]);
    expect(rowsOf({ demonstrations: 3 })).toEqual([]);
  });

  it('says of each number what it counts, and leaves out what is of no use', () => {
    const result = {
      realSteps: 282,
      promptCharacters: 21_940,
      droppedProposals: { expert: 13, duplicate: 14 },
      droppedBy: { 'too-short': 1 },
      endReasons: { 'step-limit': 3 },
      byTaskType: { pick_and_place: { scored: 2, successes: 1 } },
      someNewCount: 5,
    };
    expect(numbersOf(result)).toEqual([
      ['Real environment steps', 282],
      ['Proposals dropped: the expert’s own action', 13],
      ['Proposals dropped: proposed before', 14],
      ['Texts dropped: too short', 1],
      ['Episodes ended: step limit', 3],
      ['pick and place: episodes scored', 2],
      ['pick and place: successes', 1],
      ['Some new count', 5],
    ]);
  });

  it('knows how many episodes a stage ended with', () => {
    expect(episodesOf({ episodeIds: ['a', 'b'], steps: 9 })).toBe(2);
    expect(episodesOf(null)).toBe(0);
  });
});
