import { expect, test } from 'vitest';
import type { AgentState } from '#core/agents/index.ts';
import { iwmMessages, stripRewardText } from '#core/early-experience/iwm.ts';

const state: AgentState = {
  instruction: 'put some apple in fridge.',
  actionGuide: 'Commands: go, look.',
  history: [
    {
      observation: { text: 'A kitchen.', admissible: ['go to fridge 1'] },
      answer: '<action>go to fridge 1</action>',
      action: 'go to fridge 1',
      parseStatus: 'ok',
    },
  ],
  observation: { text: 'You arrive at fridge 1.', admissible: ['open fridge 1', 'look'] },
};
const append = { history: { style: 'append' as const }, style: 'full' as const, stripRewardText: true };

test('Eq. 3: history, state and action in, delimited observation out', async () => {
  const messages = iwmMessages(
    state,
    { action: 'open fridge 1', observation: 'You open the fridge 1.\n' },
    append,
  );
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot('../../../test/golden/iwm-row.json');
});

test('an error is an outcome to predict', () => {
  const messages = iwmMessages(state, { action: 'eat fridge 1', observation: 'Nothing happens.' }, append);
  expect(messages?.at(-1)?.content).toBe('Observation: Nothing happens.');
});

test('its system prompt is not the agent’s', () => {
  const system = iwmMessages(state, { action: 'look', observation: 'x' }, append)?.[0]?.content ?? '';
  expect(system).toContain('Observation:');
  expect(system).not.toContain('<action>');
});

test('the windowed prompt is one message before the action', () => {
  const roles = iwmMessages(
    state,
    { action: 'look', observation: 'x' },
    {
      history: { style: 'window', steps: 2 },
      style: 'full',
      stripRewardText: true,
    },
  )?.map(({ role }) => role);
  expect(roles).toEqual(['system', 'user', 'assistant', 'user', 'assistant']);
});

test('the compact style shortens the system message and lists no actions; the target stays', () => {
  const action = { action: 'open fridge 1', observation: 'You open the fridge 1.' };
  const full = iwmMessages(state, action, append) ?? [];
  const compact = iwmMessages(state, action, { ...append, style: 'compact' }) ?? [];
  expect(compact[0]?.content).toBe(
    'Say what is observed after the last action, beginning with “Observation:”.',
  );
  expect(compact.map(({ content }) => content).join('\n')).not.toContain('Admissible');
  expect(compact.slice(-3)).toEqual(full.slice(-3));
});

test.each([
  ['Thank you for shopping with us!\nYour score (min 0.0, max 1.0):\n1.0', 'Thank you for shopping with us!'],
  ['Reward: 1.0\nYou arrive.', 'You arrive.'],
  ['You arrive. [score: 0.5]', 'You arrive.'],
  ['Total score = 3', ''],
  ['You read the score of a symphony.\n12', 'You read the score of a symphony.\n12'],
  ['The scoreboard hangs here.', 'The scoreboard hangs here.'],
])('reward text goes: %j', (text, kept) => {
  expect(stripRewardText(text)).toBe(kept);
});

test('what was only reward text leaves nothing to predict, and no row', () => {
  expect(iwmMessages(state, { action: 'look', observation: 'Reward: 1' }, append)).toBeNull();
  const kept = iwmMessages(
    state,
    { action: 'look', observation: 'Reward: 1' },
    { ...append, stripRewardText: false },
  );
  expect(kept?.at(-1)?.content).toBe('Observation: Reward: 1');
});
