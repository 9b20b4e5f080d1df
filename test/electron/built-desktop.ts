/**
 * Run by the slow tests under plain Node: the *built* desktop host behind the fake Electron, and the built inference process.
 * Prints one JSON line with what it saw. Argument: an empty folder.
 */
import path from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { Client } from '#shared/contract/index.ts';
import { portMessage } from '#shared/host.ts';
import type { createNodeSpawner } from '#core/process/index.ts';
import type { startDesktop } from '../../src/main/desktop.ts';
import { createFakeElectron, ipcEvent } from './fake-electron.ts';

const out = path.resolve(import.meta.dirname, '../../out');
const built = async <Module>(file: string) => (await import(path.join(out, file))) as Module;
const [dataFolder = ''] = process.argv.slice(2);

const electron = createFakeElectron();
const desktop = await built<{ startDesktop: typeof startDesktop }>('main/desktop.js');
await desktop.startDesktop(electron.api, {
  dataFolder,
  preload: path.join(out, 'preload/index.cjs'),
  rendererFolder: path.join(out, 'renderer'),
  inferenceEntry: path.join(out, 'workers/inference/main.js'),
  trainerEntry: path.join(out, 'workers/trainer/main.js'),
  platform: 'linux',
  env: {},
  kill: () => undefined,
});
const [window] = electron.windows;
if (window === undefined) throw new Error(JSON.stringify(electron.record));
electron.ipcMain.emit(portMessage, ipcEvent(window.webContents));
const port = window.webContents.posted[0]?.ports[0];
if (port === undefined) throw new Error('no port');
port.start();
const client: Client = createORPCClient(new RPCLink({ port }));
const status = await client.system.status();
const environments = await client.environments.list();
const presets = await client.runs.presets();
const page = await electron.state.handler?.({ method: 'GET', url: 'app://daydream/' } as Request);
const script = /src="([^"]+\.js)"/.exec((await page?.text()) ?? '')?.[1] ?? '';
// As the browser resolves it on a page further down, which is what a reload shows.
const address = new URL(script, 'http://daydream/runs/new').pathname;
const asset = await electron.state.handler?.({ method: 'GET', url: `app://daydream${address}` } as Request);

const { createNodeSpawner: createSpawner } = await built<{ createNodeSpawner: typeof createNodeSpawner }>(
  'core/process/index.js',
);
const child = createSpawner().spawn('inference', {});
const firstMessage = await new Promise((resolve) => {
  child.onMessage(resolve);
  child.onExit((exit) => {
    resolve(exit);
  });
});
child.kill('SIGKILL');

console.log(
  JSON.stringify({
    host: status.host,
    version: status.version,
    environments: environments.length,
    presets: presets.length,
    script: asset?.headers.get('content-type') ?? null,
    worker: firstMessage,
  }),
);
electron.app.emit('before-quit', { preventDefault: () => undefined });
const deadline = Date.now() + 10_000;
while (electron.app.exits.length === 0 && Date.now() < deadline) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
// The fake only notes that the application wanted to end.
process.exit(electron.app.exits[0] ?? 1);
