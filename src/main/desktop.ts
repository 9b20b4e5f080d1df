/**
 * The desktop host, top to bottom: one instance a data folder, the core, its RPC ends, one window. Behaviour lives in the core;
 * this wires Electron to it.
 */
import path from 'node:path';
import { createRouterClient } from '@orpc/server';
import { RPCHandler } from '@orpc/server/message-port';
import { createApp, nodePorts, readHostAddress } from '#core/app.ts';
import type { App } from '#core/app.ts';
import type { Logger } from '#core/ports.ts';
import { toAppError } from '#shared/errors.ts';
import { navigateMessage, openDataFolderMessage } from '#shared/host.ts';
import { serve } from '../serve/index.ts';
import type { ElectronApi, WindowPart } from './electron-api.ts';
import { openLink } from './external-links.ts';
import { menuTemplate } from './menu.ts';
import { notifyJobEnded, notifyTrouble } from './notifications.ts';
import { offerOtherHost } from './other-host.ts';
import { registerScheme, serveFiles } from './protocol.ts';
import { quitGracefully } from './quit.ts';
import { handOverPorts, isTrusted } from './rpc-ports.ts';
import { lockSession } from './security.ts';
import { createUtilitySpawner } from './utility-spawner.ts';
import { bringToFront, openWindow } from './window.ts';

export interface DesktopOptions {
  dataFolder: string;
  /** Absolute paths of the built parts. */
  preload: string;
  rendererFolder: string;
  inferenceEntry: string;
  trainerEntry: string;
  icon?: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  kill(pid: number, signal: 'SIGKILL'): void;
  quitWithinMs?: number;
}

/** Resolves when the window shows its page, or with null when this process has nothing to do (another one has it). */
export async function startDesktop(
  electron: ElectronApi,
  options: DesktopOptions,
): Promise<{ app: App; window: WindowPart } | null> {
  const { app } = electron;
  registerScheme(electron);
  // Electron's own files lie in the data folder, so that its instance lock is one a data folder too.
  app.setPath('userData', path.join(options.dataFolder, 'desktop'));
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return null;
  }
  const desktop = new Desktop(electron, options);
  app.on('second-instance', () => {
    desktop.show();
  });
  await app.whenReady();
  const core = await desktop.openCore();
  return core === null ? null : { app: core, window: await desktop.open(core) };
}

/** Identity and lifecycle of the one window and the core behind it. */
class Desktop {
  readonly #electron: ElectronApi;
  readonly #options: DesktopOptions;
  #window: WindowPart | null = null;
  #log: Logger | null = null;
  /** The user's setting; nothing is wanted before there is a core to ask. */
  #isWanted: () => Promise<boolean> = () => Promise.resolve(false);

  constructor(electron: ElectronApi, options: DesktopOptions) {
    this.#electron = electron;
    this.#options = options;
  }

  /** null after telling the user why there is none. */
  async openCore(): Promise<App | null> {
    const { app, dialog } = this.#electron;
    const { dataFolder, inferenceEntry, trainerEntry, env, kill } = this.#options;
    try {
      const ports = nodePorts({ kind: 'electron', dataFolder });
      this.#log = ports.log;
      const spawner = createUtilitySpawner(this.#electron, {
        entries: { inference: inferenceEntry, trainer: trainerEntry },
        log: ports.log,
        kill,
        env,
      });
      return await createApp({
        ...ports,
        spawner,
        onJobEnded: (job) => void this.#jobEnded(job),
        onTrouble: (text) => {
          notifyTrouble(this.#electron, text, {
            onClick: () => {
              this.show();
            },
          });
        },
      });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'HOST_LOCKED') {
        await offerOtherHost(this.#electron, { error, address: readHostAddress(dataFolder) });
        app.exit(0);
      } else {
        dialog.showErrorBox('Daydream cannot start', `${error.message}\n\n${error.code}`);
        app.exit(1);
      }
      return null;
    }
  }

  async open(core: App): Promise<WindowPart> {
    const { app, ipcMain, Menu, shell } = this.#electron;
    const { dataFolder, rendererFolder, platform } = this.#options;
    const log = core.services.log;
    const client = createRouterClient(core.router);
    this.#isWanted = async () => (await client.system.settings.get()).notifications;

    lockSession(this.#electron, { log });
    serveFiles(this.#electron, rendererFolder);
    const handler = new RPCHandler(core.router);
    handOverPorts(this.#electron, { upgrade: (port) => void handler.upgrade(port), log });
    // Commands and a browser tab attach to this host while the window is open.
    const server = await serve({ app: core, port: 0, files: rendererFolder });
    core.publishAddress({ port: server.port, token: server.token });
    quitGracefully(this.#electron, () => [{ dispose: () => server.close() }, core], {
      log,
      ...(this.#options.quitWithinMs === undefined ? {} : { withinMs: this.#options.quitWithinMs }),
    });

    const openDataFolder = () => {
      void shell.openPath(dataFolder).then((problem) => {
        if (problem !== '') log.warn({ problem }, 'data-folder-not-opened');
      });
    };
    ipcMain.on(openDataFolderMessage, (event) => {
      if (isTrusted(event)) openDataFolder();
    });
    const actions = {
      navigate: (page: string) => {
        this.show();
        this.#window?.webContents.send(navigateMessage, page);
      },
      openDataFolder,
      openLink: (address: string) => void openLink(this.#electron, address),
    };
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(menuTemplate(actions, { platform, developer: this.#developer })),
    );
    app.on('window-all-closed', () => {
      if (platform !== 'darwin') app.quit();
    });
    app.on('activate', () => {
      if (this.#window === null) void this.#openWindow(log);
      else this.show();
    });
    core.start();
    return this.#openWindow(log);
  }

  /** A second start, a menu entry or a notification wants the window. */
  show(): void {
    if (this.#window !== null) bringToFront(this.#window);
  }

  get #developer(): boolean {
    return !this.#electron.app.isPackaged;
  }

  async #openWindow(log: Logger): Promise<WindowPart> {
    const { dataFolder, preload, icon } = this.#options;
    const window = await openWindow(this.#electron, {
      preload,
      stateFile: path.join(dataFolder, 'desktop', 'window-state.json'),
      ...(icon === undefined ? {} : { icon }),
      developer: this.#developer,
      log,
    });
    this.#window = window;
    window.on('closed', () => {
      this.#window = null;
    });
    return window;
  }

  async #jobEnded(job: { title: string; state: string; activeMs: number }): Promise<void> {
    try {
      await notifyJobEnded(this.#electron, job, {
        isWatched: () => this.#window?.isFocused() === true,
        isWanted: this.#isWanted,
        onClick: () => {
          this.show();
          this.#window?.webContents.send(navigateMessage, '/runs');
        },
      });
    } catch (error) {
      this.#log?.warn({ error: String(error) }, 'notification-failed');
    }
  }
}
