/** The GUI is built with Vite on first use and again when a source is newer than the build. */
import { existsSync, readdirSync, rmSync, statSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '#shared/errors.ts';

const configName = 'vite.renderer.config.ts';
const sources = ['src/renderer', 'src/shared', configName];

/** The checkout above this file; null in an installed bundle, which brings its GUI built. */
function checkoutFolder(): string | null {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, configName))) {
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return folder;
}

function bundledFolder(): string | null {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const built = join(folder, 'renderer', 'index.html');
    if (existsSync(built) && !folder.endsWith('src')) return dirname(built);
  }
  return null;
}

/** Milliseconds of the newest file below; 0 for what is not there. */
function newest(path: string): number {
  if (!existsSync(path)) return 0;
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

export interface RendererState {
  folder: string;
  state: 'ready' | 'missing' | 'stale';
}

export function rendererState(): RendererState | null {
  const project = checkoutFolder();
  if (project === null) {
    const folder = bundledFolder();
    return folder === null ? null : { folder, state: 'ready' };
  }
  const folder = join(project, 'out', 'renderer');
  const built = newest(join(folder, 'index.html'));
  if (built === 0) return { folder, state: 'missing' };
  const changed = Math.max(...sources.map((source) => newest(join(project, source))));
  return { folder, state: changed > built ? 'stale' : 'ready' };
}

async function build(project: string, folder: string): Promise<void> {
  const vite = await import('vite').catch((cause: unknown) => {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message:
        'The GUI is not built yet and Vite, which builds it, is not installed. Run `npm ci` in the project folder, or `npm run build:renderer` where it is.',
      cause,
    });
  });
  // Two hosts may build at once: each builds beside and swaps in a whole folder.
  const fresh = `${folder}.new-${String(process.pid)}`;
  const old = `${folder}.old-${String(process.pid)}`;
  const tidy = () => {
    for (const left of [fresh, old]) rmSync(left, { recursive: true, force: true });
  };
  // A build cannot be called off: a host that is stopped meanwhile ends in the middle of it.
  process.once('exit', tidy);
  try {
    await vite.build({
      configFile: join(project, configName),
      logLevel: 'error',
      build: { outDir: fresh, emptyOutDir: true },
    });
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(fresh, folder);
  } finally {
    process.off('exit', tidy);
    tidy();
  }
}

/** @returns the folder to serve. @throws AppError FILE_NOT_FOUND when there is no GUI and no way to build it */
export async function ensureRenderer(say: (line: string) => void): Promise<string> {
  const found = rendererState();
  if (found === null) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: 'This installation holds no GUI. Install it again.',
    });
  }
  if (found.state === 'ready') return found.folder;
  const project = checkoutFolder();
  if (project === null) return found.folder;
  say(`Building the GUI (${found.state === 'missing' ? 'first use' : 'sources changed'})…`);
  const startedAt = performance.now();
  try {
    await build(project, found.folder);
  } catch (thrown) {
    if (found.state === 'missing') throw thrown;
    say(`The GUI could not be rebuilt (${(thrown as Error).message}); the older build is served.`);
    return found.folder;
  }
  say(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  return found.folder;
}
