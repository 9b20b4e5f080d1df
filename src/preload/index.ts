/** The only bridge between the sandboxed page and the main process: three calls, no data of its own. Built as CommonJS. */
import { contextBridge, ipcRenderer } from 'electron';
import { navigateMessage, openDataFolderMessage, portMessage } from '#shared/host.ts';
import type { ElectronBridge } from '#shared/host.ts';

/** What this file uses of the page; the Node configuration that compiles it has no DOM. */
declare const window: {
  readonly location: { readonly origin: string };
  postMessage(message: unknown, targetOrigin: string, transfer: readonly unknown[]): void;
};

ipcRenderer.on(portMessage, ({ ports }) => {
  window.postMessage(portMessage, window.location.origin, ports);
});

const bridge: ElectronBridge = {
  kind: 'electron',
  requestPort: () => {
    ipcRenderer.send(portMessage);
  },
  openDataFolder: () => {
    ipcRenderer.send(openDataFolderMessage);
  },
  onNavigate: (listener) => {
    ipcRenderer.on(navigateMessage, (_event, path: unknown) => {
      if (typeof path === 'string') listener(path);
    });
  },
};

contextBridge.exposeInMainWorld('daydream', bridge);
