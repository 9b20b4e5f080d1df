import { describe, expect, it } from 'vitest';
import type { MarkedBranch } from '#shared/contract/episodes.ts';
import { branchSchema } from '#shared/schema/branch.ts';
import type { Branch } from '#shared/schema/branch.ts';
import type { StepView } from '../../../ui/viewer/step-view.ts';
import { firstLine, groupBranches, namedBranch, twigKind } from './group-branches.ts';

const hash = 'a'.repeat(64);
function branch(change: Partial<Record<keyof Branch, unknown>>, inIwm: boolean | null = true): MarkedBranch {
  const stored = branchSchema.parse({
    branchId: `branch-${JSON.stringify(change)}`,
    episodeId: 'episode',
    stepIndex: 0,
    jobId: null,
    purpose: 'iwm',
    source: 'uniform',
    alternativeIndex: 0,
    action: 'look',
    canonicalAction: 'look',
    admissible: true,
    valid: true,
    observation: 'You look.',
    sameAsExpert: false,
    reward: 0,
    terminated: false,
    truncated: false,
    success: false,
    status: 'accepted',
    rejectReason: null,
    proof: { method: 'snapshot', expectedHash: hash, observedHash: hash, prefixLength: 0 },
    proposal: null,
    error: null,
    createdAt: 0,
    ...change,
  });
  return { ...stored, inIwm };
}
const step = (index: number): StepView => ({
  index,
  state: '',
  admissible: null,
  thought: null,
  action: 'go',
  outcome: '',
  reward: 0,
  marks: [],
});

describe('grouping branches by state', () => {
  it('sets rejected ones apart and orders IWM before SR, each by j', () => {
    const [state] = groupBranches(
      [step(0), step(1)],
      [
        branch({ purpose: 'sr', alternativeIndex: 0 }, false),
        branch({ alternativeIndex: 1 }),
        branch({ alternativeIndex: 0 }),
        branch({ status: 'rejected', rejectReason: 'hash differs', alternativeIndex: 2 }, false),
        branch({ purpose: 'expert', source: 'expert' }),
        branch({ stepIndex: 1 }),
      ],
      [],
    );
    const [run] = state?.runs ?? [];
    expect(state?.runs).toHaveLength(1);
    expect(run?.twigs.map((twig) => [twig.purpose, twig.alternativeIndex])).toEqual([
      ['iwm', 0],
      ['iwm', 1],
      ['sr', 0],
    ]);
    expect(run?.rejected).toHaveLength(1);
    expect(run?.triples.map(({ purpose }) => purpose)).toEqual(['expert', 'iwm', 'iwm']);
  });

  it('opens the branch that a data set’s row names, in whichever run did that action', () => {
    const [state] = groupBranches(
      [step(0)],
      [
        branch({ jobId: 'first', alternativeIndex: 1, action: 'look' }),
        branch({ jobId: 'second', alternativeIndex: 1, action: 'help', createdAt: 5 }),
      ],
      [],
    );
    const opened = (name: string, action: string | null) =>
      state === undefined ? undefined : namedBranch(state, name, action)?.jobId;
    expect(opened('episode/0/iwm/1', 'help')).toBe('second');
    expect(opened('episode/0/iwm/1', null)).toBe('first');
    expect(opened('episode/0/iwm/2', 'help')).toBeUndefined();
    expect(opened(state?.alternatives[1]?.branchId ?? '', null)).toBe('second');
  });

  it('keeps the alternatives of several runs apart, the oldest run first, each with its own expert triple', () => {
    const [state] = groupBranches(
      [step(0)],
      [
        branch({ jobId: 'second', createdAt: 20 }),
        branch({ jobId: 'first', createdAt: 10 }),
        branch({ jobId: 'first', createdAt: 11, status: 'rejected', rejectReason: 'hash differs' }, false),
        branch({ jobId: 'second', createdAt: 19, purpose: 'expert', source: 'expert' }),
        branch({ jobId: 'first', createdAt: 12, purpose: 'sr' }, false),
      ],
      [],
    );
    expect(
      state?.runs.map((run) => [run.jobId, run.startedAt, run.twigs.length, run.rejected.length]),
    ).toEqual([
      ['first', 10, 2, 1],
      ['second', 19, 1, 0],
    ]);
    expect(state?.runs.map(({ triples }) => triples.map(({ purpose }) => purpose))).toEqual([
      ['iwm'],
      ['expert', 'iwm'],
    ]);
    expect(state?.alternatives.map(({ jobId, createdAt }) => [jobId, createdAt])).toEqual([
      ['first', 10],
      ['first', 12],
      ['first', 11],
      ['second', 20],
    ]);
  });

  it('calls a rejected branch rejected even when its action was invalid', () => {
    expect(twigKind(branch({ status: 'rejected', valid: false }))).toBe('rejected');
    expect(twigKind(branch({ valid: false, sameAsExpert: true }))).toBe('invalid');
    expect(twigKind(branch({ sameAsExpert: true }))).toBe('same');
    expect(twigKind(branch({}))).toBe('distinct');
  });

  it('shows the first line that says something', () => {
    expect(firstLine('\n  \nYou open it.\nInside…')).toBe('You open it.');
    expect(firstLine('')).toBe('');
  });
});
