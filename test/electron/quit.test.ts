import { describe, expect, it } from 'vitest';
import { disposeBounded, quitGracefully } from '../../src/main/quit.ts';
import { createFakeElectron, silentLog } from './fake-electron.ts';

const settle = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

describe('quitting', () => {
  it('disposes in order, then exits', async () => {
    const electron = createFakeElectron();
    const order: string[] = [];
    const disposable = (name: string) => ({
      dispose: async () => {
        await settle(2);
        order.push(name);
      },
    });
    quitGracefully(electron.api, () => [disposable('server'), disposable('core')], { log: silentLog() });
    let prevented = 0;
    const event = { preventDefault: () => (prevented += 1) };
    electron.app.emit('before-quit', event);
    electron.app.emit('before-quit', event);
    expect(prevented).toBe(2);
    expect(electron.app.exits).toEqual([]);
    await settle(30);
    expect(order).toEqual(['server', 'core']);
    expect(electron.app.exits).toEqual([0]);
  });

  it('does not wait for ever', async () => {
    const electron = createFakeElectron();
    const log = silentLog();
    const hanging = { dispose: () => new Promise<void>(() => undefined) };
    quitGracefully(electron.api, () => [hanging], { withinMs: 20, log });
    electron.app.emit('before-quit', { preventDefault: () => undefined });
    await settle(60);
    expect(electron.app.exits).toEqual([0]);
    expect(log.events.map(({ event }) => event)).toEqual(['dispose-timed-out']);
  });

  it('disposes the rest when one fails', async () => {
    const log = silentLog();
    let core = false;
    const failing = { dispose: () => Promise.reject(new Error('disk full')) };
    const rest = {
      dispose: () => {
        core = true;
        return Promise.resolve();
      },
    };
    expect(await disposeBounded([failing, rest], { log })).toBe(true);
    expect(core).toBe(true);
    expect(log.events[0]).toMatchObject({ event: 'dispose-failed' });
  });
});
