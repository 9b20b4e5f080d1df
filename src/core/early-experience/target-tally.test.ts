import { expect, test } from 'vitest';
import { actionKind, TargetTally } from '#core/early-experience/target-tally.ts';
import { soundRow } from '#test/helpers/sft-rows.ts';

test.each([
  ['go to desk 1', 'go'],
  ['  HELP ', 'help'],
  ['click[buy now]', 'click'],
  ['{"name": "list_files", "arguments": {}}', 'list_files'],
  ['cd(folder="x")', 'cd'],
  ['…?', '…?'],
])('the kind of %s is %s', (action, kind) => {
  expect(actionKind(action)).toBe(kind);
});

test('rows and characters of the kinds sum to the whole, and a text counts once as distinct', () => {
  const tally = new TargetTally();
  expect(tally.result()).toBeNull();
  const add = (action: string, target: string) => {
    const row = soundRow(0);
    row.meta.action = action;
    row.messages[row.messages.length - 1] = { role: 'assistant', content: `Observation: ${target}` };
    tally.add(row);
  };
  add('help', 'a long list of commands');
  add('help', 'a long list of commands');
  add('go to desk 1', 'a desk');
  add('go to bed 1', 'a bed');
  add('look', 'a desk');
  expect(tally.result()).toEqual({
    rows: 5,
    distinct: 3,
    characters: 128,
    kinds: [
      { kind: 'help', rows: 2, distinct: 1, characters: 72 },
      { kind: 'go', rows: 2, distinct: 2, characters: 37 },
      { kind: 'look', rows: 1, distinct: 1, characters: 19 },
    ],
  });
});
