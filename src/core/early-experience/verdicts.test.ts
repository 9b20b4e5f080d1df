import { expect, test } from 'vitest';
import type { Review } from '#shared/schema/branch.ts';
import { exportable, verdicts } from '#core/early-experience/verdicts.ts';
import { makeReflection } from '#test/helpers/store-records.ts';

const kept: readonly string[] = [];
function attempt(
  index: number,
  droppedBy: readonly string[],
  decision: Review['decision'] = 'pending',
  more: { text?: string; branchIds?: string[]; stepIndex?: number; flags?: object[] } = {},
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

test('a text has all its flags and one reason: flags count each, reasons add up', () => {
  const found = (names: readonly string[]) => names.map((flag) => ({ flag, evidence: 'x' }));
  const texts = [
    attempt(0, ['numbering', 'too-long'], 'pending', {
      flags: found(['numbering', 'too-long']),
      stepIndex: 1,
    }),
    attempt(0, ['too-long'], 'pending', { flags: found(['outcome-narration', 'too-long']), stepIndex: 2 }),
    // Its rule is switched off: flagged, and kept.
    attempt(0, kept, 'pending', { flags: found(['scaffold']), stepIndex: 3 }),
    attempt(0, ['empty'], 'pending', { text: ' ', flags: [], stepIndex: 4 }),
  ];
  expect(verdicts(texts).map(({ droppedBy, flags }) => [droppedBy, flags])).toEqual([
    ['numbering', ['numbering', 'too-long']],
    ['too-long', ['outcome-narration', 'too-long']],
    [null, ['scaffold']],
    ['empty', ['empty']],
  ]);
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
