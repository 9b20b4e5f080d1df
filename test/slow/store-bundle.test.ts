import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';
import { expect, it } from 'vitest';
import { temporaryFolder } from '#test/helpers/store-records.ts';

const repository = path.resolve(import.meta.dirname, '../..');

it('finds its reader thread in a build that mirrors the source tree', async () => {
  // Inside the repository, so that the build finds better-sqlite3 as an installed application does.
  const outDir = path.join(repository, '.cache', `bundle-test-${process.pid}`);
  const temporary = temporaryFolder();
  const source = (file: string) => path.join(repository, 'src', file);
  try {
    await build({
      root: repository,
      configFile: false,
      logLevel: 'error',
      ssr: { external: ['better-sqlite3', 'zod'] },
      build: {
        ssr: true,
        outDir,
        rollupOptions: {
          input: [source('core/store/index.ts'), source('workers/store-reader/main.ts')],
          output: {
            preserveModules: true,
            preserveModulesRoot: path.join(repository, 'src'),
            entryFileNames: '[name].js',
          },
        },
      },
    });
    const script = `
      const { createStoreReader, openStore } = await import(${JSON.stringify(pathToFileURL(path.join(outDir, 'core/store/index.js')).href)});
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const file = ${JSON.stringify(path.join(temporary.folder, 'daydream.sqlite'))};
      const store = openStore({ file, clock: { now: () => Date.now() }, log });
      const reader = createStoreReader({ file, log });
      store.addRealSteps('train', 3);
      console.log((await reader.counts()).realEnvironmentSteps);
      await reader.close();
      store.close();`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(printed.trim()).toBe('3');
  } finally {
    rmSync(outDir, { recursive: true, force: true });
    temporary.remove();
  }
});
