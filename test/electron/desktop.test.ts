import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createApp, nodePorts, readHostAddress } from '#core/app.ts';
import type { App } from '#core/app.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { Client } from '#shared/contract/index.ts';
import { navigateMessage, openDataFolderMessage, portMessage } from '#shared/host.ts';
import { startDesktop } from '../../src/main/desktop.ts';
import type { DesktopOptions } from '../../src/main/desktop.ts';
import { createFakeElectron, ipcEvent } from './fake-electron.ts';
import type { FakeElectron } from './fake-electron.ts';

let folder: string;
let dataFolder: string;
let electron: FakeElectron;
const started: { dispose(): Promise<void> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'daydream-desktop-'));
  dataFolder = path.join(folder, 'data');
  await mkdir(path.join(folder, 'renderer'));
  await writeFile(path.join(folder, 'renderer', 'index.html'), '<title>Daydream</title>');
  electron = createFakeElectron();
});
afterEach(async () => {
  // Also ends the loopback server, as a quitting user would.
  electron.app.emit('before-quit', { preventDefault: () => undefined });
  if (electron.windows.length > 0) await vi.waitFor(() => expect(electron.app.exits).not.toEqual([]), 10_000);
  for (const app of started.splice(0)) await app.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function start(change: Partial<DesktopOptions> = {}) {
  return startDesktop(electron.api, {
    dataFolder,
    preload: path.join(folder, 'preload.cjs'),
    rendererFolder: path.join(folder, 'renderer'),
    inferenceEntry: path.join(folder, 'inference.js'),
    trainerEntry: path.join(folder, 'trainer.js'),
    platform: 'linux',
    env: {},
    kill: () => undefined,
    ...change,
  });
}

async function startOtherHost(): Promise<App> {
  const app = await createApp(nodePorts({ kind: 'serve', dataFolder }));
  started.push(app);
  return app;
}

function clientOfPage(): Client {
  const { webContents } = electron.windows[0]!;
  electron.ipcMain.emit(portMessage, ipcEvent(webContents));
  const port = webContents.posted.at(-1)!.ports[0]!;
  port.start();
  return createORPCClient(new RPCLink({ port }));
}

function press(label: string): void {
  const items = electron.record.menu.flatMap((menu) => (Array.isArray(menu.submenu) ? menu.submenu : []));
  items.find((item) => item.label === label)?.click?.({} as never, undefined, {} as never);
}

describe('the desktop host', () => {
  it('shows one window whose page talks to the core over its port', async () => {
    expect(await start()).not.toBeNull();
    expect(electron.windows).toHaveLength(1);
    expect(electron.windows[0]?.loaded).toEqual(['app://daydream/']);
    const status = await clientOfPage().system.status();
    expect(status).toMatchObject({ host: 'electron', dataFolder });
    expect(status.inference.state).toBe('stopped');
  });

  it('serves the built GUI on its scheme and refuses everything outside', async () => {
    await start();
    const page = await electron.state.handler?.({ method: 'GET', url: 'app://daydream/runs/new' } as Request);
    expect(await page?.text()).toContain('Daydream');
    expect(electron.state.beforeRequest?.('https://example.com/')).toBe(true);
    expect(electron.state.permissionRequest).not.toBeNull();
  });

  it('keeps Electron’s own files in the data folder, so that its lock is one a data folder', async () => {
    await start();
    expect(electron.app.paths['userData']).toBe(path.join(dataFolder, 'desktop'));
  });

  it('leaves a second start to the first window', async () => {
    electron.app.hasLock = false;
    expect(await start()).toBeNull();
    expect(electron.app.quits).toBe(1);
    expect(electron.windows).toEqual([]);
    expect(existsSync(path.join(dataFolder, 'daydream.db'))).toBe(false);
  });

  it('comes to the front when it is started a second time', async () => {
    await start();
    electron.windows[0]!.minimized = true;
    electron.app.emit('second-instance');
    expect(electron.windows[0]?.calls).toEqual(['restore', 'show', 'focus']);
  });

  it('offers the browser when another host owns the data folder', async () => {
    const other = await startOtherHost();
    other.publishAddress({ port: 4123, token: 'secret-token' });
    electron.state.answer = 0;
    expect(await start()).toBeNull();
    expect(electron.record.boxes[0]?.message).toContain('already runs');
    expect(electron.record.boxes[0]?.detail).toContain(String(process.pid));
    expect(electron.record.external).toEqual(['http://127.0.0.1:4123/#token=secret-token']);
    expect(electron.app.exits).toEqual([0]);
  });

  it('only explains when the other host cannot be attached to', async () => {
    await startOtherHost();
    expect(await start()).toBeNull();
    expect(electron.record.boxes[0]?.buttons).toEqual(['Quit']);
    expect(electron.record.boxes[0]?.detail).toContain(dataFolder);
    expect(electron.record.external).toEqual([]);
    expect(electron.app.exits).toEqual([0]);
  });

  it('says what is wrong with a damaged store and ends', async () => {
    await mkdir(dataFolder, { recursive: true });
    await writeFile(
      path.join(dataFolder, 'daydream.db'),
      'not a database, but long enough to be read as one'.repeat(100),
    );
    expect(await start()).toBeNull();
    expect(electron.record.errors[0]?.title).toBe('Daydream cannot start');
    expect(electron.record.errors[0]?.content).toContain('STORE_CORRUPT');
    expect(electron.app.exits).toEqual([1]);
  });

  it('follows its menu', async () => {
    await start();
    expect(electron.record.menuSet).toBe(1);
    press('New Run…');
    expect(electron.windows[0]?.webContents.sent).toEqual([
      { channel: navigateMessage, args: ['/runs/new'] },
    ]);
    press('Open Data Folder');
    expect(electron.record.opened).toEqual([dataFolder]);
    press('Early Experience (paper)');
    await vi.waitFor(() => expect(electron.record.external).toEqual(['https://arxiv.org/abs/2510.08558']));
  });

  it('opens the data folder for its own page only', async () => {
    await start();
    const { webContents } = electron.windows[0]!;
    electron.ipcMain.emit(openDataFolderMessage, ipcEvent(webContents, { url: 'https://evil.com/' }));
    expect(electron.record.opened).toEqual([]);
    electron.ipcMain.emit(openDataFolderMessage, ipcEvent(webContents));
    expect(electron.record.opened).toEqual([dataFolder]);
  });

  it('lets commands and a browser attach', async () => {
    await start();
    const address = readHostAddress(dataFolder);
    expect(address?.pid).toBe(process.pid);
    const page = await fetch(`http://127.0.0.1:${String(address?.port)}/`);
    expect(await page.text()).toContain('Daydream');
  });

  it('tells that a long job ended while nobody looked, if the user wants it', async () => {
    const desktop = await start();
    const { jobs, clock } = desktop!.app.services;
    const realNow = Date.now.bind(Date);
    let shift = 0;
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + shift);
    expect(clock.now()).toBeGreaterThan(0);
    jobs.register(
      defineJob({
        kind: 'test-long',
        spec: z.object({}),
        slots: ['light'],
        run: () => {
          shift += 120_000;
          return Promise.resolve({});
        },
      }),
    );
    const submit = (title: string) =>
      jobs.wait(jobs.submit({ kind: 'test-long', title, spec: {}, seed: 1 }).jobId);
    try {
      await submit('A long job');
      await vi.waitFor(() => expect(electron.notifications).toHaveLength(1));
      expect(electron.notifications[0]?.options.title).toBe('A long job finished');
      electron.notifications[0]?.click();
      expect(electron.windows[0]?.webContents.sent).toEqual([{ channel: navigateMessage, args: ['/runs'] }]);
      await clientOfPage().system.settings.set({ notifications: false });
      await submit('Another');
      electron.windows[0]!.focused = true;
      await submit('A third');
      expect(electron.notifications).toHaveLength(1);
    } finally {
      spy.mockRestore();
    }
  });

  it('puts everything down before it ends, and frees the data folder', async () => {
    await start();
    let prevented = false;
    electron.app.emit('before-quit', { preventDefault: () => (prevented = true) });
    expect(prevented).toBe(true);
    await vi.waitFor(() => expect(electron.app.exits).toEqual([0]), 5000);
    expect(readHostAddress(dataFolder)).toBeNull();
    const next = await startOtherHost();
    expect(next.services.store.counts().jobs).toBe(0);
  });

  it('ends with its last window, except on macOS, where the dock brings it back', async () => {
    await start({ platform: 'darwin' });
    electron.windows[0]?.close();
    electron.app.emit('window-all-closed');
    expect(electron.app.quits).toBe(0);
    electron.app.emit('activate');
    await vi.waitFor(() => expect(electron.windows).toHaveLength(2));
    electron.app.emit('activate');
    expect(electron.windows[1]?.calls).toEqual(['show', 'focus']);
  });

  it('quits with its last window on Linux', async () => {
    await start();
    electron.windows[0]?.close();
    electron.app.emit('window-all-closed');
    expect(electron.app.quits).toBe(1);
  });
});
