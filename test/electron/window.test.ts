import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bringToFront, openWindow } from '../../src/main/window.ts';
import { createFakeElectron, silentLog } from './fake-electron.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the window', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'daydream-window-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function opened() {
    const electron = createFakeElectron();
    const log = silentLog();
    const stateFile = path.join(folder, 'window-state.json');
    const window = await openWindow(electron.api, {
      preload: '/p/index.cjs',
      stateFile,
      developer: false,
      log,
    });
    return { electron, log, window, fake: electron.windows[0]! };
  }

  it('is sandboxed, isolated and without Node', async () => {
    const { fake } = await opened();
    expect(fake.options.webPreferences).toMatchObject({
      preload: '/p/index.cjs',
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      spellcheck: false,
      devTools: false,
    });
    expect(fake.loaded).toEqual(['app://daydream/']);
    expect(fake.webContents.openHandler?.({ url: 'https://evil.com' })).toEqual({ action: 'deny' });
  });

  it('is shown with its first paint', async () => {
    const { fake } = await opened();
    expect(fake.options.show).toBe(false);
    expect(fake.calls).toEqual([]);
    fake.emit('ready-to-show');
    expect(fake.calls).toEqual(['show']);
  });

  it('opens where and as large as it was', async () => {
    await mkdir(folder, { recursive: true });
    const bounds = { x: 50, y: 60, width: 1234, height: 789 };
    await writeFile(path.join(folder, 'window-state.json'), JSON.stringify({ bounds, maximized: true }));
    const { fake } = await opened();
    expect(fake.options).toMatchObject(bounds);
    expect(fake.calls).toEqual(['maximize']);
  });

  it.each([
    ['Reload', 0, { reloads: 1, quits: 0 }],
    ['Leave it', 1, { reloads: 0, quits: 0 }],
    ['Quit', 2, { reloads: 0, quits: 1 }],
  ])('offers after a crash of its process: %s', async (label, answer, expected) => {
    const { electron, fake, log } = await opened();
    electron.state.answer = answer;
    fake.webContents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 139 });
    await settle();
    expect(electron.record.boxes).toHaveLength(1);
    expect(electron.record.boxes[0]?.buttons?.[answer]).toBe(label);
    expect({ reloads: fake.webContents.reloads, quits: electron.app.quits }).toEqual(expected);
    expect(log.events.map(({ event }) => event)).toContain('renderer-gone');
  });

  it('asks once while the question is open, and not about a clean end', async () => {
    const { electron, fake } = await opened();
    fake.webContents.emit('render-process-gone', {}, { reason: 'clean-exit', exitCode: 0 });
    expect(electron.record.boxes).toEqual([]);
    fake.webContents.emit('render-process-gone', {}, { reason: 'oom', exitCode: 1 });
    fake.emit('unresponsive');
    expect(electron.record.boxes).toHaveLength(1);
    expect(electron.record.boxes[0]?.message).toContain('memory');
    await settle();
  });

  it('comes to the front also from the task bar', async () => {
    const { fake, window } = await opened();
    fake.minimized = true;
    bringToFront(window);
    expect(fake.calls).toEqual(['restore', 'show', 'focus']);
  });
});
