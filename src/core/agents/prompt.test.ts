import { expect, test } from 'vitest';
import type { AgentState, Turn } from '#core/agents/prompt.ts';
import { agentMessages } from '#core/agents/prompt.ts';

const turn = (observation: string, action: string, extra: Partial<Turn> = {}): Turn => ({
  observation: { text: observation, admissible: ['look', action] },
  answer: `<action>${action}</action>`,
  action,
  parseStatus: 'ok',
  ...extra,
});
const state = (history: Turn[], observation = 'A door.'): AgentState => ({
  instruction: 'leave the house',
  actionGuide: 'Commands: go, look.',
  history,
  observation: { text: observation, admissible: ['open door 1', 'look'] },
});
const append = {
  history: { style: 'append' as const },
  style: 'full' as const,
  thought: true,
  fewShot: false,
};
const window = (steps: number) => ({
  history: { style: 'window' as const, steps },
  style: 'full' as const,
  thought: false,
  fewShot: false,
});

test('the append-only conversation only ever grows at its end', () => {
  const history = [turn('A hall.', 'go to door 1'), turn('A dark hall.', 'look'), turn('A mat.', 'look')];
  for (let steps = 0; steps < history.length; steps += 1) {
    const shorter = agentMessages(state(history.slice(0, steps), history[steps]?.observation.text), append);
    const longer = agentMessages(state(history.slice(0, steps + 1)), append);
    const shared = longer.slice(0, shorter.length).map(({ content }) => content.split('\n\nAdmissible')[0]);
    expect(shared).toEqual(shorter.map(({ content }) => content.split('\n\nAdmissible')[0]));
  }
});

test('append: task once, then only what is new', async () => {
  const messages = agentMessages(state([turn('A hall.', 'go to door 1')]), append);
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot(
    '../../../test/golden/prompt-append.json',
  );
});

test('window: the last pairs and the number of steps, as verl-agent shows them', async () => {
  const history = [turn('A hall.', 'go to door 1'), turn('A dark hall.', 'look'), turn('A mat.', 'look')];
  const messages = agentMessages(state(history), window(2));
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot(
    '../../../test/golden/prompt-window.json',
  );
});

test('compact: the forms of the actions, no explanations, no list of what is admissible', async () => {
  const actionGuide = [
    'Each turn you give one command:',
    '- go to PLACE            e.g. go to desk 1',
    '- open PLACE, close PLACE (only where you are)',
    '- look',
    'You carry one object at a time.',
  ].join('\n');
  const compact = { ...append, style: 'compact' as const };
  const messages = agentMessages({ ...state([turn('A hall.', 'go to door 1')]), actionGuide }, compact);
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot(
    '../../../test/golden/prompt-compact.json',
  );
  const silent = agentMessages({ ...state([]), actionGuide }, { ...compact, thought: false })[0]?.content;
  expect(silent).toMatch(/Form: <action>your action<\/action>$/u);
});

test('compact: a guide without listed forms stays whole, and a window is compact too', () => {
  const compact = { ...window(2), style: 'compact' as const };
  const [system, user] = agentMessages(state([turn('A hall.', 'go to door 1')]), compact);
  expect(system?.content).toContain('Actions: Commands: go, look.\n');
  expect(user?.content).toContain('Current observation: A door.');
  expect(user?.content).not.toContain('Admissible');
});

test('completion: the examples are of another world and stand before the task', async () => {
  const messages = agentMessages(state([]), { ...append, fewShot: true });
  expect(messages.map(({ role }) => role)).toEqual([
    'system',
    ...Array(3).fill(['user', 'assistant']).flat(),
    'user',
  ]);
  await expect(JSON.stringify(messages, null, 2)).toMatchFileSnapshot(
    '../../../test/golden/prompt-few-shot.json',
  );
});

test('a task that the first observation tells is not told twice', () => {
  const told = { ...state([]), observation: { text: 'Your task is to: leave the house', admissible: null } };
  expect(agentMessages(told, append).at(-1)?.content).toBe('Your task is to: leave the house');
});

test('an answer that could not be read is complained about in the next message', () => {
  const content = agentMessages(state([turn('A hall.', '', { parseStatus: 'no-action' })]), append).at(
    -1,
  )?.content;
  expect(content).toMatch(/^Your last answer held no complete <action>/u);
});

test('no list is shared between two renderings', () => {
  const history = [turn('A hall.', 'go to door 1')];
  const first = agentMessages(state(history), append);
  const copy = structuredClone(first);
  const second = agentMessages(state(history), append);
  second.push({ role: 'user', content: 'more' });
  for (const message of second) message.content += ' changed';
  expect(first).toEqual(copy);
  expect(agentMessages(state(history), append)).toEqual(copy);
});
