/**
 * Electron as the shell sees it, without Electron: emitters and records typed by `ElectronApi`, ports over a real MessageChannel.
 * Nothing here decides anything; tests emit what Electron would emit and read what was asked of it.
 */
import { EventEmitter } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type * as Electron from 'electron';
import type {
  ElectronApi,
  NotificationPart,
  UtilityProcessPart,
  WebContentsPart,
  WindowPart,
} from '../../src/main/electron-api.ts';

/** MessagePortMain over Node's port: `message` carries `{ data }`, and `close` comes when the other end is gone. */
export class FakePort extends EventEmitter {
  readonly #port: MessagePort;
  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on('message', (data: unknown) => this.emit('message', { data, ports: [] }));
    port.on('close', () => this.emit('close'));
  }
  start(): void {
    this.#port.start();
  }
  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }
  close(): void {
    this.#port.close();
  }
}

class FakeMessageChannel {
  readonly port1: Electron.MessagePortMain;
  readonly port2: Electron.MessagePortMain;
  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port1 = new FakePort(port1) as unknown as Electron.MessagePortMain;
    this.port2 = new FakePort(port2) as unknown as Electron.MessagePortMain;
  }
}

let contentsCount = 0;
export class FakeWebContents extends EventEmitter {
  readonly id = (contentsCount += 1);
  readonly sent: { channel: string; args: unknown[] }[] = [];
  readonly posted: { channel: string; ports: readonly FakePort[] }[] = [];
  reloads = 0;
  openHandler: ((details: { url: string }) => unknown) | null = null;
  isDestroyed(): boolean {
    return false;
  }
  reload(): void {
    this.reloads += 1;
  }
  send(channel: string, ...args: unknown[]): void {
    this.sent.push({ channel, args });
  }
  postMessage(channel: string, _message: unknown, ports: readonly unknown[]): void {
    this.posted.push({ channel, ports: ports as FakePort[] });
  }
  setWindowOpenHandler(
    handler: (details: Electron.HandlerDetails) => Electron.WindowOpenHandlerResponse,
  ): void {
    this.openHandler = handler as (details: { url: string }) => unknown;
  }
}

export class FakeWindow extends EventEmitter {
  readonly webContents: FakeWebContents & WebContentsPart;
  readonly options: Electron.BrowserWindowConstructorOptions;
  readonly loaded: string[] = [];
  readonly calls: string[] = [];
  bounds: Electron.Rectangle = { x: 10, y: 20, width: 1000, height: 700 };
  maximized = false;
  fullScreen = false;
  focused = false;
  minimized = false;
  destroyed = false;
  constructor(options: Electron.BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    this.webContents = new FakeWebContents() as FakeWebContents & WebContentsPart;
  }
  close(): void {
    this.emit('close', { preventDefault: () => undefined });
    this.destroyed = true;
    this.emit('closed');
  }
  focus(): void {
    this.calls.push('focus');
  }
  show(): void {
    this.calls.push('show');
  }
  restore(): void {
    this.calls.push('restore');
  }
  maximize(): void {
    this.calls.push('maximize');
    this.maximized = true;
  }
  getNormalBounds(): Electron.Rectangle {
    return this.bounds;
  }
  isDestroyed(): boolean {
    return this.destroyed;
  }
  isFocused(): boolean {
    return this.focused;
  }
  isFullScreen(): boolean {
    return this.fullScreen;
  }
  isMaximized(): boolean {
    return this.maximized;
  }
  isMinimized(): boolean {
    return this.minimized;
  }
  loadURL(url: string): Promise<void> {
    this.loaded.push(url);
    return Promise.resolve();
  }
}

class FakeApp extends EventEmitter {
  isPackaged = false;
  hasLock = true;
  readonly paths: Record<string, string> = {};
  readonly exits: number[] = [];
  quits = 0;
  exit(code = 0): void {
    this.exits.push(code);
  }
  getVersion(): string {
    return '0.0.0-fake';
  }
  quit(): void {
    this.quits += 1;
  }
  requestSingleInstanceLock(): boolean {
    return this.hasLock;
  }
  setPath(name: string, path: string): void {
    this.paths[name] = path;
  }
  whenReady(): Promise<void> {
    return Promise.resolve();
  }
}

export class FakeUtilityProcess extends EventEmitter {
  readonly entry: string;
  readonly options: Electron.ForkOptions;
  readonly posted: unknown[] = [];
  pid: number | undefined = 4242;
  stderr: UtilityProcessPart['stderr'] = null;
  kills = 0;
  constructor(entry: string, options: Electron.ForkOptions) {
    super();
    this.entry = entry;
    this.options = options;
  }
  postMessage(message: unknown): void {
    this.posted.push(message);
  }
  kill(): boolean {
    this.kills += 1;
    return true;
  }
}

type PermissionRequest = NonNullable<Parameters<Electron.Session['setPermissionRequestHandler']>[0]>;
type PermissionCheck = NonNullable<Parameters<Electron.Session['setPermissionCheckHandler']>[0]>;

/** The API for the code under test and, beside it, everything that a test wants to emit or read. */
export function createFakeElectron() {
  const app = new FakeApp();
  const ipcMain = new EventEmitter();
  const windows: FakeWindow[] = [];
  const children: FakeUtilityProcess[] = [];
  const notifications: { options: Electron.NotificationConstructorOptions; click(): void }[] = [];
  const record = {
    boxes: [] as Electron.MessageBoxOptions[],
    errors: [] as { title: string; content: string }[],
    external: [] as string[],
    opened: [] as string[],
    schemes: [] as Electron.CustomScheme[],
    menu: [] as Electron.MenuItemConstructorOptions[],
    spellChecker: true,
    menuSet: 0,
  };
  const state = {
    /** What the user presses in the next message box. */
    answer: 0,
    workAreas: [{ x: 0, y: 0, width: 1920, height: 1040 }],
    notificationsSupported: true,
    handler: null as ((request: Request) => Response | Promise<Response>) | null,
    permissionRequest: null as PermissionRequest | null,
    permissionCheck: null as PermissionCheck | null,
    beforeRequest: null as ((url: string) => boolean) | null,
  };

  class FakeBrowserWindow extends FakeWindow {
    constructor(options: Electron.BrowserWindowConstructorOptions) {
      super(options);
      windows.push(this);
    }
  }
  class FakeNotification extends EventEmitter implements NotificationPart {
    readonly #options: Electron.NotificationConstructorOptions;
    constructor(options: Electron.NotificationConstructorOptions) {
      super();
      this.#options = options;
    }
    static isSupported(): boolean {
      return state.notificationsSupported;
    }
    show(): void {
      notifications.push({ options: this.#options, click: () => this.emit('click') });
    }
  }

  const api = {
    app,
    BrowserWindow: FakeBrowserWindow as unknown as new (
      options: Electron.BrowserWindowConstructorOptions,
    ) => WindowPart,
    dialog: {
      showErrorBox: (title, content) => void record.errors.push({ title, content }),
      showMessageBox: (options) => {
        record.boxes.push(options);
        return Promise.resolve({ response: state.answer });
      },
    },
    ipcMain,
    Menu: {
      buildFromTemplate: (template) => {
        record.menu = template as Electron.MenuItemConstructorOptions[];
        return {} as Electron.Menu;
      },
      setApplicationMenu: () => void (record.menuSet += 1),
    },
    MessageChannelMain: FakeMessageChannel,
    Notification: FakeNotification,
    protocol: {
      registerSchemesAsPrivileged: (schemes) => void record.schemes.push(...schemes),
      handle: (_scheme, handler) => void (state.handler = handler),
    },
    screen: { getAllDisplays: () => state.workAreas.map((workArea) => ({ workArea })) },
    session: {
      defaultSession: {
        setPermissionRequestHandler: (handler) => void (state.permissionRequest = handler),
        setPermissionCheckHandler: (handler) => void (state.permissionCheck = handler),
        setSpellCheckerEnabled: (enabled) => void (record.spellChecker = enabled),
        webRequest: {
          onBeforeRequest: (...args: unknown[]) => {
            const listener = args.at(-1) as (
              details: { url: string },
              callback: (response: { cancel: boolean }) => void,
            ) => void;
            state.beforeRequest = (url) => {
              let cancelled = false;
              listener({ url }, ({ cancel }) => (cancelled = cancel));
              return cancelled;
            };
          },
        },
      },
    },
    shell: {
      openExternal: (url) => {
        record.external.push(url);
        return Promise.resolve();
      },
      openPath: (path) => {
        record.opened.push(path);
        return Promise.resolve('');
      },
    },
    utilityProcess: {
      fork: (entry, _args, options) => {
        const child = new FakeUtilityProcess(entry, options);
        children.push(child);
        return child;
      },
    },
  } satisfies ElectronApi;

  return { api: api as ElectronApi, app, ipcMain, windows, children, notifications, record, state };
}

export type FakeElectron = ReturnType<typeof createFakeElectron>;

/** An ipcMain event as the preload of our own page causes it. */
export function ipcEvent(
  sender: FakeWebContents,
  frame: { url?: string; parent?: object | null } | null = {},
): unknown {
  const senderFrame =
    frame === null ? null : { url: frame.url ?? 'app://daydream/', parent: frame.parent ?? null };
  return { sender, senderFrame };
}

export function silentLog() {
  const events: { level: string; event: string; fields: Record<string, unknown> }[] = [];
  const at = (level: string) => (fields: Record<string, unknown>, event: string) =>
    void events.push({ level, event, fields });
  return { events, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
