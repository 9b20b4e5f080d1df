import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fullPromptTokens, promptDelta } from '#core/agents/tokens.ts';

test('the prompts of all steps come back from their deltas', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
  const calls = fc.array(fc.record({ prompt: ids, completion: ids }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(calls, (list) => {
      let previous: number[] = [];
      const steps = list.map(({ prompt, completion }) => {
        const tokens = {
          ...promptDelta(previous, prompt),
          completionTokens: completion,
          logprobs: [],
          evaluatedPromptTokens: 0,
        };
        previous = [...prompt, ...completion];
        return { tokens };
      });
      list.forEach(({ prompt }, index) => {
        expect(fullPromptTokens(steps, index)).toEqual(prompt);
      });
    }),
  );
});

test('an append-only step stores only what is new', () => {
  expect(promptDelta([1, 2, 3, 4], [1, 2, 3, 4, 5, 6])).toEqual({
    promptPrefixLength: 4,
    promptTokens: [5, 6],
  });
});

test('a step without ids has no prompt to give', () => {
  expect(fullPromptTokens([{ tokens: null }], 0)).toBeNull();
});
