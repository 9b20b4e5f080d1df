import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { navigateMessage, openDataFolderMessage, portMessage } from '#shared/host.ts';
import type { ElectronBridge } from '#shared/host.ts';

describe('the preload', () => {
  const ipc = Object.assign(new EventEmitter(), {
    sent: [] as string[],
    send: (channel: string) => void ipc.sent.push(channel),
  });
  const exposed: Record<string, unknown> = {};
  const posted: { message: unknown; targetOrigin: string; transfer: unknown }[] = [];

  beforeEach(async () => {
    vi.doMock('electron', () => ({
      ipcRenderer: ipc,
      contextBridge: { exposeInMainWorld: (name: string, value: unknown) => (exposed[name] = value) },
    }));
    vi.stubGlobal('window', {
      location: { origin: 'app://daydream' },
      postMessage: (message: unknown, targetOrigin: string, transfer: unknown) =>
        posted.push({ message, targetOrigin, transfer }),
    });
    await import('../../src/preload/index.ts');
  });
  afterEach(() => {
    vi.doUnmock('electron');
    vi.unstubAllGlobals();
    vi.resetModules();
    ipc.removeAllListeners();
    ipc.sent.length = 0;
    posted.length = 0;
  });
  const bridge = () => exposed['daydream'] as ElectronBridge;

  it('exposes the bridge of the contract and nothing else', () => {
    expect(Object.keys(exposed)).toEqual(['daydream']);
    expect(Object.keys(bridge()).toSorted()).toEqual(['kind', 'onNavigate', 'openDataFolder', 'requestPort']);
  });

  it('asks the main process and passes the port on to its own page only', () => {
    bridge().requestPort();
    bridge().openDataFolder();
    expect(ipc.sent).toEqual([portMessage, openDataFolderMessage]);
    const ports = [{}];
    ipc.emit(portMessage, { ports });
    expect(posted).toEqual([{ message: portMessage, targetOrigin: 'app://daydream', transfer: ports }]);
  });

  it('passes on addresses, and only texts', () => {
    const seen: string[] = [];
    bridge().onNavigate((path) => seen.push(path));
    ipc.emit(navigateMessage, {}, '/runs/new');
    ipc.emit(navigateMessage, {}, { path: '/runs' });
    expect(seen).toEqual(['/runs/new']);
  });
});
