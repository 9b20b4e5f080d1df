import { expect, test } from 'vitest';
import type { SftRow } from '#shared/schema/dataset.ts';
import { isSoft, problemText, rowProblem } from '#core/datasets/validate-row.ts';
import { soundRow } from '#test/helpers/sft-rows.ts';

const limits = { maxCharacters: 500 };
const problem = (change: (row: SftRow) => void): string | null => {
  const row = structuredClone(soundRow());
  change(row);
  const found = rowProblem(row, limits);
  return found === null ? null : problemText(found);
};
const sentence = 'You are in the middle of a room and see a shelf 1, a shelf 2, a desk 1, and a bed 1. ';

test('a sound row has no problem', () => {
  expect(problem(() => undefined)).toBeNull();
});

test.each<[string, RegExp, (row: SftRow) => void]>([
  [
    'an unknown role',
    /^schema: messages\.1\.role/u,
    (row) => Object.assign(row.messages[1] ?? {}, { role: 'tool' }),
  ],
  [
    'two user messages in a row',
    /^roles: message 1/u,
    (row) => row.messages.splice(2, 0, { role: 'user', content: 'x' }),
  ],
  [
    'a last message from the user',
    /^roles: the last/u,
    (row) => row.messages.push({ role: 'user', content: 'x' }),
  ],
  ['an empty target', /^target: empty/u, (row) => Object.assign(row.messages[2] ?? {}, { content: '  ' })],
  ['another action than the one taken', /^target: does not end/u, (row) => (row.meta.action = 'wait')],
  [
    'text after the action',
    /^target: does not end/u,
    (row) => Object.assign(row.messages[2] ?? {}, { content: '<action>look</action> Observation: x' }),
  ],
  [
    'a world-model target without its delimiter',
    /^target: no “Observation:”/u,
    (row) => (row.meta.kind = 'iwm'),
  ],
  ['a task of an evaluation split', /^split: a task of unseen/u, (row) => (row.meta.split = 'unseen')],
  [
    'a task of the development split',
    /^split: a task of development/u,
    (row) => (row.meta.split = 'development'),
  ],
  [
    'more text than fits',
    /^overlong: \d+ characters/u,
    (row) => Object.assign(row.messages[0] ?? {}, { content: 'x'.repeat(600) }),
  ],
  [
    'a doubled message',
    /^repetition: a message is the same text twice/u,
    (row) => Object.assign(row.messages[1] ?? {}, { content: sentence.repeat(2) }),
  ],
  [
    'a message that holds the one before it, as a shared list makes it',
    /^repetition: a message holds/u,
    (row) => {
      const [system, , target] = row.messages;
      if (system === undefined || target === undefined) return;
      row.messages = [
        system,
        { role: 'user', content: sentence },
        target,
        { role: 'user', content: `${sentence}More.` },
        target,
      ];
    },
  ],
])('names %s', (_name, reason, change) => {
  expect(problem(change)).toMatch(reason);
});

test('two states that look alike are no repetition', () => {
  expect(
    problem((row) => {
      const [system, , target] = row.messages;
      if (system === undefined || target === undefined) return;
      row.messages = [
        system,
        { role: 'user', content: sentence },
        target,
        { role: 'user', content: sentence },
        target,
      ];
    }),
  ).toBeNull();
});

test('only what the data themselves are to blame for lets an export go on without the row', () => {
  const kinds = ['overlong', 'repetition', 'schema', 'split', 'roles', 'target', 'id'] as const;
  expect(kinds.filter((kind) => isSoft({ kind, reason: 'overlong: a reason is prose' }))).toEqual([
    'overlong',
    'repetition',
  ]);
});
