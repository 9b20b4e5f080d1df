import { expect, test } from 'vitest';
import type { Review } from '#shared/schema/branch.ts';
import { exportable, verdicts } from '#core/early-experience/verdicts.ts';
import { makeReflection } from '#test/helpers/store-records.ts';

const kept: readonly string[] = [];
function attempt(
  index: number,
  droppedBy: readonly string[],
  decision: Review['decision'] = 'pending',
  more: { text?: string; branchIds?: string[]; stepIndex?: number } = {},
) {
  return makeReflection('episode-0', index, {
    attempt: index,
    stepIndex: 2,
    branchIds: ['b'],
    keptByFilters: droppedBy.length === 0,
    droppedBy,
    text: 'A reason.',
    review: { decision, reason: '', at: null },
    ...more,
  });
}
type Attempt = ReturnType<typeof attempt>;

test('of the attempts at a text the kept one is exported; a review overrides the filters', () => {
  const chosen = (...list: Attempt[]) => exportable(list).map((one) => one.attempt);
  expect(chosen(attempt(0, ['numbering']), attempt(1, kept))).toEqual([1]);
  expect(chosen(attempt(0, ['numbering']), attempt(1, ['numbering']))).toEqual([]);
  expect(chosen(attempt(0, ['numbering'], 'keep'), attempt(1, kept))).toEqual([0]);
  expect(chosen(attempt(0, kept, 'drop'))).toEqual([]);
  expect(chosen(attempt(0, kept, 'keep', { text: '  ' }))).toEqual([]);
});

test('a text that is not exported counts once, by its final verdict', () => {
  const reasons = (...list: Attempt[]) => verdicts(list).map(({ droppedBy }) => droppedBy);
  expect(reasons(attempt(0, ['numbering']), attempt(1, kept))).toEqual([null]);
  expect(reasons(attempt(0, ['numbering']), attempt(1, ['label-leak', 'doubled']))).toEqual(['label-leak']);
  expect(reasons(attempt(0, kept, 'drop'))).toEqual(['review']);
  expect(reasons(attempt(0, ['numbering'], 'drop'))).toEqual(['numbering']);
  expect(reasons(attempt(0, ['numbering'], 'keep'), attempt(1, ['doubled']))).toEqual([null]);
  expect(reasons(attempt(0, kept, 'keep', { text: '' }))).toEqual(['empty']);
});

test('each state and each set of branches has a verdict of its own', () => {
  const list = [
    attempt(0, ['numbering']),
    attempt(0, kept, 'pending', { branchIds: ['c'] }),
    attempt(0, kept, 'drop', { stepIndex: 3 }),
    attempt(1, ['doubled']),
  ];
  expect(verdicts(list).map(({ droppedBy }) => droppedBy)).toEqual(['doubled', null, 'review']);
});
