/** Entry of the Electron main process; the only file that imports the real `electron`. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as electron from 'electron';
import { defaultDataFolder } from '#core/app.ts';
import { startDesktop } from './desktop.ts';

const built = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const { values } = parseArgs({
  args: process.argv.slice(1),
  // Chromium's own switches come along.
  strict: false,
  options: { 'data-dir': { type: 'string' } },
});
const wanted = values['data-dir'] ?? process.env['DAYDREAM_DATA'];
const icon = built('../../resources/icons/icon.png');

// `npm start` was killed: what it started closes as the last window would.
process.on('disconnect', () => electron.app.quit());

void startDesktop(electron, {
  dataFolder: typeof wanted === 'string' ? path.resolve(wanted) : defaultDataFolder(),
  preload: built('../preload/index.cjs'),
  rendererFolder: built('../renderer'),
  inferenceEntry: built('../workers/inference/main.js'),
  trainerEntry: built('../workers/trainer/main.js'),
  ...(existsSync(icon) ? { icon } : {}),
  platform: process.platform,
  env: process.env,
  kill: (pid, signal) => process.kill(pid, signal),
}).catch((error: unknown) => {
  electron.dialog.showErrorBox(
    'Daydream cannot start',
    error instanceof Error ? error.message : String(error),
  );
  electron.app.exit(1);
});
