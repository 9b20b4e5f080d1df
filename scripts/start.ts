/**
 * `npm start`: the desktop window; where that cannot be, one line says why and the same GUI opens in the browser: that of the host
 * which already runs on the data folder, else of a new one.
 * `npm start -- --data-dir FOLDER` works for both.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { defaultDataFolder } from '#core/data-folder.ts';
import { endWithLauncher } from '../src/cli/end-with-launcher.ts';
import { fetchElectron, findElectron, project, whyNoWindow } from './lib/electron-binary.ts';
import { findRunningGui } from './lib/running-host.ts';

const args = process.argv.slice(2);
const canOpenBrowser =
  process.platform !== 'linux' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);

/** Milliseconds of the newest file below; 0 for what is not there. */
function newest(file: string): number {
  if (!existsSync(file)) return 0;
  const found = statSync(file);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(file).map((name) => newest(path.join(file, name))));
}

function isBuilt(): boolean {
  const built = ['out/main/index.js', 'out/preload/index.cjs', 'out/renderer/index.html'].map((file) =>
    newest(path.join(project, file)),
  );
  const sources = ['src', 'electron.vite.config.ts', 'vite.renderer.config.ts', 'package.json'];
  return Math.min(...built) >= Math.max(...sources.map((file) => newest(path.join(project, file))));
}

/** Runs in the foreground; resolves with the exit status. */
function run(command: string, commandArgs: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, commandArgs, {
      cwd: project,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGINT', forward).on('SIGTERM', forward);
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(code ?? 1);
    });
  });
}

/** The same Node that runs this script, with the project's tools. */
const tool = (name: string, ...toolArgs: string[]) =>
  run(process.execPath, [path.join(project, 'bin/use-node.js'), name, ...toolArgs]);

function openBrowser(url: string): void {
  const commands: Partial<Record<NodeJS.Platform, string[]>> = {
    darwin: ['open', url],
    win32: ['rundll32', 'url.dll,FileProtocolHandler', url],
    linux: ['xdg-open', url],
  };
  const [command, ...commandArgs] = commands[process.platform] ?? [];
  if (command === undefined) return;
  // The link is printed anyway, so a machine without a browser loses nothing.
  spawn(command, commandArgs, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

/** As `daydream serve` would choose it from the same arguments. */
function dataFolder(): string {
  const { values } = parseArgs({ args, strict: false, options: { 'data-dir': { type: 'string' } } });
  const given = values['data-dir'] ?? process.env['DAYDREAM_DATA'];
  return path.resolve(typeof given === 'string' ? given : defaultDataFolder());
}

async function serveInstead(reason: string): Promise<number> {
  const running = await findRunningGui(dataFolder());
  if (running !== null) {
    console.log(
      `No desktop window: ${reason}. Daydream already runs on this data folder (process ${String(running.pid)}).`,
    );
    console.log(`Daydream is at ${running.link}`);
    if (canOpenBrowser) openBrowser(running.link);
    return 0;
  }
  console.log(`No desktop window: ${reason}. Opening the same GUI in the browser.`);
  const child = spawn(process.execPath, [path.join(project, 'bin/daydream.js'), 'serve', ...args], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      console.log(line);
      const [url] = /http:\/\/127\.0\.0\.1:\S+/u.exec(line) ?? [];
      if (url !== undefined && canOpenBrowser) openBrowser(url);
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

async function start(): Promise<number> {
  const reason = whyNoWindow();
  if (reason !== null) return serveInstead(reason);
  let electron = findElectron();
  if (electron === null) {
    console.log('Fetching Electron (once, about 110 MB)…');
    electron = fetchElectron();
  }
  if (electron === null) return serveInstead('there is no Electron binary and it could not be fetched');
  if (!isBuilt()) {
    console.log('Building the desktop application…');
    const status = await tool('electron-vite', 'build', '--logLevel', 'warn');
    if (status !== 0) return status;
  }
  return run(electron, [project, ...args]);
}

endWithLauncher();
process.exitCode = await start();
