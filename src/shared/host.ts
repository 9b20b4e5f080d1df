/** How a renderer finds its host. Electron's preload exposes `window.daydream`; a browser tab has none and uses the WebSocket. */
export const portMessage = 'daydream:rpc-port';
export const openDataFolderMessage = 'daydream:open-data-folder';
export const navigateMessage = 'daydream:navigate';

export interface ElectronBridge {
  readonly kind: 'electron';
  /** Asks the main process for a MessagePort; it arrives as a window message `portMessage`. */
  requestPort(): void;
  openDataFolder(): void;
  onNavigate(listener: (path: string) => void): void;
}
