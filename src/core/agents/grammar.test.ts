import { expect, test } from 'vitest';
import { actionGrammar } from '#core/agents/grammar.ts';

test('without thoughts the answer is one of the admissible actions', () => {
  expect(actionGrammar({ admissible: ['look', 'look', 'go'], thought: false, maxTokens: 32 })).toEqual({
    kind: 'choice',
    options: ['look', 'go'],
    prefix: '<action>',
    suffix: '</action>',
  });
});

test('with thoughts the bound leaves room for the longest action', () => {
  const grammar = actionGrammar({ admissible: ['say "hi"', 'go'], thought: true, maxTokens: 60 });
  expect(grammar).toEqual({
    kind: 'gbnf',
    source:
      'root ::= ("<think>" [ -;=-~]{1,20} "</think>")? "<action>" action "</action>"\n' +
      'action ::= "say \\"hi\\"" | "go"\n',
  });
});

test('where no thought fits, none is allowed', () => {
  const grammar = actionGrammar({ admissible: ['go'], thought: true, maxTokens: 20 });
  expect(grammar).toMatchObject({ source: expect.stringMatching(/^root ::= "<action>" action/u) as string });
});

test('a world that cannot enumerate its actions leaves them free', () => {
  const grammar = actionGrammar({ admissible: null, thought: false, maxTokens: 64 });
  expect(grammar).toMatchObject({ kind: 'gbnf', source: expect.stringContaining('{1,200}') as string });
});
