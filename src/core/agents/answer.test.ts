import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAnswer, parseAnswer } from '#core/agents/answer.ts';

test.each([
  ['<think>why</think><action>go to desk 1</action>', 'ok', 'why', 'go to desk 1'],
  ['<action>look</action>', 'ok', null, 'look'],
  ['<THINK>a</THINK> <ACTION> Look </ACTION>', 'ok', 'a', 'Look'],
  [
    'reasoning opened by the template</think><action>look</action>',
    'ok',
    'reasoning opened by the template',
    'look',
  ],
  ['<think>never closed <action>look</action>', 'ok', 'never closed', 'look'],
  [
    '<think>maybe <action>wait</action>?</think><action>look</action>',
    'ok',
    'maybe <action>wait</action>?',
    'look',
  ],
  ['<action>go\n  to  desk 1</action>', 'ok', null, 'go to desk 1'],
  ['<action>look</action><action>wait</action>', 'several-actions', null, 'look'],
  ['<action>  </action>', 'empty-action', null, ''],
  ['<action>go to desk 1', 'unclosed', null, 'go to desk 1'],
  ['<action>go to desk 1\nObservation: you', 'unclosed', null, 'go to desk 1'],
  ['I go to the desk.', 'no-action', null, ''],
  ['<think>only thoughts</think>', 'no-action', 'only thoughts', ''],
  ['', 'no-action', null, ''],
] as const)('reads %j as %s', (text, status, thought, action) => {
  expect(parseAnswer(text)).toEqual({ status, thought, action });
});

test('reads back what it writes', () => {
  const word = fc
    .stringMatching(/^[a-z0-9 .,'-]{1,40}$/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
  fc.assert(
    fc.property(fc.option(word), word, (thought, action) => {
      const oneLine = action.replace(/\s+/gu, ' ');
      expect(parseAnswer(formatAnswer({ thought, action }))).toEqual({
        status: 'ok',
        thought,
        action: oneLine,
      });
    }),
  );
});

test('gives an answer for any text, and never an action with a line break', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('<think>', '</think>', '<action>', '</action>', '\n', '<', ' '),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const { action, status } = parseAnswer(pieces.join(''));
      expect(action).not.toMatch(/[\n\r]/u);
      if (status === 'ok' || status === 'several-actions') expect(action).not.toBe('');
      if (status === 'no-action' || status === 'empty-action') expect(action).toBe('');
    }),
    { numRuns: 500 },
  );
});
