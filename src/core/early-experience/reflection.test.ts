import { expect, test } from 'vitest';
import type { AgentState } from '#core/agents/index.ts';
import { parseAnswer } from '#core/agents/index.ts';
import { cleanReflection, reflectionMessages, reflectionPrompt } from '#core/early-experience/reflection.ts';

const state: AgentState = {
  instruction: 'cool some apple.',
  actionGuide: 'Commands: go, look.',
  history: [
    {
      observation: { text: 'A kitchen.', admissible: ['go to table 1'] },
      answer: '<action>go to table 1</action>',
      action: 'go to table 1',
      parseStatus: 'ok',
    },
  ],
  observation: {
    text: 'On the table 1 is an apple 1.',
    admissible: ['take apple 1', 'look', 'go to sink 1'],
  },
};
const example = {
  family: 'household',
  state,
  expertAction: 'take apple 1',
  expertOutcome: 'You pick up the apple 1.',
  alternatives: [
    { action: 'look', observation: 'You see a table 1.\nNext to it, nothing.' },
    { action: 'go to sink 1', observation: 'The sink 1 is empty.' },
  ],
  maxWords: 200,
};

test.each(['paper', 'anticipatory'] as const)(
  'the %s template shows state, expert and every real outcome',
  async (template) => {
    const prompt = reflectionPrompt(template, example);
    for (const part of [
      'cool some apple.',
      'take apple 1',
      'You pick up the apple 1.',
      'The sink 1 is empty.',
    ]) {
      expect(prompt).toContain(part);
    }
    await expect(prompt).toMatchFileSnapshot(`../../../test/golden/reflection-prompt-${template}.txt`);
  },
);

test('the anticipatory template has no slot that could leak its label or a number', () => {
  const prompt = reflectionPrompt('anticipatory', example);
  expect(prompt).not.toMatch(/expert|alternative|outcome|\n\d\. /iu);
});

test('Eq. 4: the input is the agent’s prompt alone, the target reasoning and the expert’s action', async () => {
  const settings = {
    history: { style: 'append' as const },
    style: 'full' as const,
    thought: true,
    fewShot: false,
  };
  const messages = reflectionMessages(state, 'It has to be in my hand first.', 'take apple 1', settings);
  const input = messages
    .slice(0, -1)
    .map(({ content }) => content)
    .join('\n');
  expect(input).not.toContain('You pick up');
  expect(input).not.toContain('The sink 1 is empty');
  expect(parseAnswer(messages.at(-1)?.content ?? '')).toEqual({
    status: 'ok',
    thought: 'It has to be in my hand first.',
    action: 'take apple 1',
  });
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot(
    '../../../test/golden/reflection-row.json',
  );
});

test.each([
  ['The apple first.', 'The apple first.'],
  ['Inner monologue: The apple first.', 'The apple first.'],
  ['**Monologue:**\nThe apple first.', 'The apple first.'],
  ['“The apple first.”', 'The apple first.'],
  ['<think>draft</think>The apple first.', 'The apple first.'],
  ['<think>The apple first.</think><action>take apple 1</action>', 'The apple first.'],
  ['The apple first.\n\n\nThen the fridge.', 'The apple first.\nThen the fridge.'],
  ['<action>take apple 1</action>', ''],
])('a monologue is cleaned of its wrapping: %j', (raw, text) => {
  expect(cleanReflection(raw)).toBe(text);
});
