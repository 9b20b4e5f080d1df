/** The one window: sandboxed, isolated, without Node, showing `app://daydream/`. Offers a reload when its process dies. */
import type { Logger } from '#core/ports.ts';
import type { ElectronApi, WindowPart } from './electron-api.ts';
import { origin } from './origin.ts';
import { lockContents } from './security.ts';
import { keepWindowState, minimumSize, openingBounds, readWindowState } from './window-state.ts';

export interface WindowOptions {
  preload: string;
  stateFile: string;
  icon?: string;
  developer: boolean;
  log: Logger;
}

type Needs = Pick<ElectronApi, 'app' | 'BrowserWindow' | 'dialog' | 'screen' | 'shell'>;

/** @throws what `loadURL` throws when the page cannot be loaded at all */
export async function openWindow(electron: Needs, options: WindowOptions): Promise<WindowPart> {
  const { log } = options;
  const state = await readWindowState(options.stateFile);
  const window = new electron.BrowserWindow({
    ...openingBounds(state, electron),
    minWidth: minimumSize.width,
    minHeight: minimumSize.height,
    show: false,
    title: 'Daydream',
    autoHideMenuBar: false,
    ...(options.icon === undefined ? {} : { icon: options.icon }),
    webPreferences: {
      preload: options.preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      spellcheck: false,
      navigateOnDragDrop: false,
      devTools: options.developer,
    },
  });
  lockContents(electron, window.webContents, { log });
  keepWindowState(window, options.stateFile, {
    onError: (error) => {
      log.warn({ error: String(error) }, 'window-state-not-saved');
    },
  });
  if (state?.maximized === true) window.maximize();
  // Shown with its first paint, so that there is no white flash.
  window.on('ready-to-show', () => {
    window.show();
  });
  offerReload(electron, window, log);
  await window.loadURL(`${origin}/`);
  return window;
}

function offerReload({ app, dialog }: Needs, window: WindowPart, log: Logger): void {
  let asking = false;
  const ask = async (message: string, wait: string) => {
    if (asking || window.isDestroyed()) return;
    asking = true;
    const { response } = await dialog.showMessageBox({
      type: 'warning',
      message,
      detail: 'Running jobs go on, and everything stored is kept.',
      buttons: ['Reload', wait, 'Quit'],
      defaultId: 0,
      cancelId: 1,
    });
    asking = false;
    if (response === 0 && !window.isDestroyed()) window.webContents.reload();
    if (response === 2) app.quit();
  };
  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit') return;
    log.error({ reason, exitCode }, 'renderer-gone');
    void ask(
      reason === 'oom'
        ? 'The window ran out of memory and its process ended.'
        : `The process of the window ended (${reason}, code ${exitCode}).`,
      'Leave it',
    );
  });
  window.on('unresponsive', () => {
    log.warn({}, 'renderer-unresponsive');
    void ask('The window does not answer.', 'Wait');
  });
}

export function bringToFront(window: WindowPart): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
