/**
 * Exactly what the shell uses of Electron. `index.ts` alone imports the real thing; everything else takes this, so that it runs
 * against a fake of the same type (there is no Electron binary on most build machines).
 */
/* eslint-disable @typescript-eslint/unified-signatures -- Electron declares one overload an event; a union of events fits none of them */
import type * as Electron from 'electron';

/** Listeners are named one by one: Electron's own `on` returns the whole object, which no fake could be. */
export type AppPart = Pick<
  Electron.App,
  'exit' | 'getVersion' | 'isPackaged' | 'quit' | 'requestSingleInstanceLock' | 'setPath' | 'whenReady'
> & {
  on(event: 'second-instance', listener: () => void): unknown;
  on(event: 'window-all-closed', listener: () => void): unknown;
  on(event: 'activate', listener: () => void): unknown;
  on(event: 'before-quit', listener: (event: Preventable) => void): unknown;
};

export interface Preventable {
  preventDefault(): void;
}

export type WebContentsPart = Pick<
  Electron.WebContents,
  'id' | 'isDestroyed' | 'reload' | 'send' | 'setWindowOpenHandler'
> & {
  on(event: 'will-navigate', listener: (event: Preventable & { url: string }) => void): unknown;
  on(event: 'will-redirect', listener: (event: Preventable & { url: string }) => void): unknown;
  on(event: 'will-attach-webview', listener: (event: Preventable) => void): unknown;
  on(
    event: 'render-process-gone',
    listener: (event: unknown, details: Electron.RenderProcessGoneDetails) => void,
  ): unknown;
};

export type WindowPart = Pick<
  Electron.BrowserWindow,
  | 'close'
  | 'focus'
  | 'getNormalBounds'
  | 'isDestroyed'
  | 'isFocused'
  | 'isFullScreen'
  | 'isMaximized'
  | 'isMinimized'
  | 'loadURL'
  | 'maximize'
  | 'restore'
  | 'show'
> & {
  readonly webContents: WebContentsPart;
  on(event: 'resize', listener: () => void): unknown;
  on(event: 'move', listener: () => void): unknown;
  on(event: 'maximize', listener: () => void): unknown;
  on(event: 'unmaximize', listener: () => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  on(event: 'closed', listener: () => void): unknown;
  on(event: 'ready-to-show', listener: () => void): unknown;
  on(event: 'unresponsive', listener: () => void): unknown;
};

export type UtilityProcessPart = Pick<Electron.UtilityProcess, 'kill' | 'pid' | 'postMessage' | 'stderr'> & {
  on(event: 'exit', listener: (code: number) => void): unknown;
  on(event: 'error', listener: (type: 'FatalError', location: string) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
};

export interface NotificationPart {
  on(event: 'click', listener: () => void): unknown;
  show(): void;
}

export type SessionPart = Pick<
  Electron.Session,
  'setPermissionCheckHandler' | 'setPermissionRequestHandler' | 'setSpellCheckerEnabled'
> & { readonly webRequest: Pick<Electron.WebRequest, 'onBeforeRequest'> };

export interface ElectronApi {
  readonly app: AppPart;
  readonly BrowserWindow: new (options: Electron.BrowserWindowConstructorOptions) => WindowPart;
  readonly dialog: Pick<Electron.Dialog, 'showErrorBox'> & {
    showMessageBox(options: Electron.MessageBoxOptions): Promise<{ response: number }>;
  };
  readonly ipcMain: {
    on(channel: string, listener: (event: Electron.IpcMainEvent, ...args: unknown[]) => void): unknown;
  };
  readonly Menu: Pick<typeof Electron.Menu, 'buildFromTemplate' | 'setApplicationMenu'>;
  readonly MessageChannelMain: new () => { port1: Electron.MessagePortMain; port2: Electron.MessagePortMain };
  readonly Notification: {
    new (options: Electron.NotificationConstructorOptions): NotificationPart;
    isSupported(): boolean;
  };
  readonly protocol: Pick<Electron.Protocol, 'handle' | 'registerSchemesAsPrivileged'>;
  readonly screen: { getAllDisplays(): Pick<Electron.Display, 'workArea'>[] };
  readonly session: { readonly defaultSession: SessionPart };
  readonly shell: Pick<Electron.Shell, 'openExternal' | 'openPath'>;
  readonly utilityProcess: {
    fork(entry: string, args: string[], options: Electron.ForkOptions): UtilityProcessPart;
  };
}
