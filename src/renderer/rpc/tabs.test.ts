import { afterEach, expect, it } from 'vitest';
import { answerTabs, askTabs } from './tabs.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

it('gives the token of a tab that is connected', async () => {
  open.push(
    answerTabs(() => null),
    answerTabs(() => 'abc'),
  );
  expect(await askTabs({ withinMs: 5000 })).toBe('abc');
});

it('gives nothing when no tab is connected', async () => {
  open.push(answerTabs(() => null));
  expect(await askTabs({ withinMs: 30 })).toBeNull();
});

it('takes no message of another form for a token', async () => {
  const channel = new BroadcastChannel('daydream-token');
  open.push(channel);
  channel.addEventListener('message', () => {
    for (const message of [
      'abc',
      null,
      { kind: 'token' },
      { kind: 'token', token: '' },
      { kind: 'token', token: 7 },
    ])
      channel.postMessage(message);
  });
  expect(await askTabs({ withinMs: 100 })).toBeNull();
});
