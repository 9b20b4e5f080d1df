import { describe, expect, it } from 'vitest';
import { longJobMs, notifyJobEnded, notifyTrouble } from '../../src/main/notifications.ts';
import { createFakeElectron } from './fake-electron.ts';

const job = { title: 'Early Experience', state: 'succeeded', activeMs: 192_000 };

async function ended(
  change: Partial<typeof job> = {},
  { watched = false, wanted = true, supported = true } = {},
) {
  const electron = createFakeElectron();
  electron.state.notificationsSupported = supported;
  let clicks = 0;
  const shown = await notifyJobEnded(
    electron.api,
    { ...job, ...change },
    { isWatched: () => watched, isWanted: () => Promise.resolve(wanted), onClick: () => (clicks += 1) },
  );
  return { shown, notifications: electron.notifications, clicks: () => clicks };
}

describe('a notification', () => {
  it('says what ended, how, and after how long', async () => {
    const { shown, notifications, clicks } = await ended();
    expect(shown).toBe(true);
    expect(notifications[0]?.options).toEqual({
      title: 'Early Experience finished',
      body: 'After 3 min 12 s of work. Click to see it.',
    });
    notifications[0]?.click();
    expect(clicks()).toBe(1);
  });

  it.each([
    ['failed', 'Early Experience failed'],
    ['cancelled', 'Early Experience was cancelled'],
  ])('names the state %s', async (state, title) => {
    expect((await ended({ state })).notifications[0]?.options.title).toBe(title);
  });

  it('tells trouble whatever the setting, and opens the window', () => {
    const electron = createFakeElectron();
    let clicks = 0;
    notifyTrouble(electron.api, 'The disk is full.', { onClick: () => (clicks += 1) });
    expect(electron.notifications[0]?.options.body).toBe('The disk is full.');
    electron.notifications[0]?.click();
    expect(clicks).toBe(1);
  });

  it('counts hours', async () => {
    const { notifications } = await ended({ activeMs: 2 * 3_600_000 + 5 * 60_000 });
    expect(notifications[0]?.options.body).toContain('2 h 5 min');
  });

  it.each([
    ['the job was short', () => ended({ activeMs: longJobMs })],
    ['the window has the focus', () => ended({}, { watched: true })],
    ['the setting is off', () => ended({}, { wanted: false })],
    ['the system shows none', () => ended({}, { supported: false })],
    ['the job is only paused', () => ended({ state: 'paused' })],
  ])('is not shown when %s', async (_reason, run) => {
    const { shown, notifications } = await run();
    expect(shown).toBe(false);
    expect(notifications).toEqual([]);
  });
});
