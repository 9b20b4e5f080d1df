import { expect, test } from 'vitest';
import { canonicalAction, distinctActions, matchAdmissible } from '#core/agents/actions.ts';

test('actions that differ in case and white space are the same action', () => {
  expect(canonicalAction('  Go  to\tDesk 1 ')).toBe('go to desk 1');
});

test('a match has the environment’s own spelling', () => {
  expect(matchAdmissible('GO TO desk 1', ['look', 'go to Desk 1'])).toBe('go to Desk 1');
  expect(matchAdmissible('go to desk 10', ['go to desk 1'])).toBeNull();
  expect(matchAdmissible('look', null)).toBeNull();
});

test('distinct actions keep the first spelling and leave out the excepted', () => {
  expect(distinctActions(['a', 'A ', 'b', 'c'], ['C'])).toEqual(['a', 'b']);
});
