/**
 * `npm run build`: main process, preload and GUI into out/. The main build keeps one file a module, at the same place below out/
 * as below src/ (out/core/store/reader.js, out/workers/inference/main.js), so that whatever a module finds from its own place
 * (worker entries, package.json, resources/) it finds in both trees.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'electron-vite';
import renderer from './vite.renderer.config.ts';

const project = import.meta.dirname;
const source = (file: string) => path.join(project, 'src', file);
const out = path.join(project, 'out');

// electron-vite asks Electron's package where its binary is, also when it only builds. It is not needed for that.
process.env['ELECTRON_EXEC_PATH'] ||= 'electron';

export default defineConfig({
  main: {
    plugins: [
      {
        name: 'daydream:fresh-output',
        buildStart() {
          for (const folder of ['cli', 'core', 'main', 'serve', 'shared', 'workers']) {
            rmSync(path.join(out, folder), { recursive: true, force: true });
          }
        },
      },
    ],
    build: {
      outDir: out,
      emptyOutDir: false,
      target: 'node24',
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        // Packages stay in node_modules: native ones must, and the others then are what was installed and tested.
        external: [/^(?![A-Za-z]:)[^./#\0]/u],
        input: [
          source('main/index.ts'),
          source('workers/inference/main.ts'),
          source('workers/trainer/main.ts'),
          source('workers/store-reader/main.ts'),
          source('cli/main.ts'),
        ],
        output: {
          format: 'es',
          preserveModules: true,
          preserveModulesRoot: path.join(project, 'src'),
          entryFileNames: '[name].js',
        },
      },
    },
  },
  preload: {
    build: {
      outDir: path.join(out, 'preload'),
      target: 'node24',
      minify: false,
      externalizeDeps: false,
      rolldownOptions: {
        input: source('preload/index.ts'),
        // A sandboxed preload must be CommonJS.
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    ...renderer,
    plugins: [
      ...(renderer.plugins ?? []),
      {
        // electron-vite makes addresses of assets relative, for file://. Ours are pages below app://daydream/, at any depth.
        name: 'daydream:absolute-assets',
        config: { order: 'post', handler: () => ({ base: '/' }) },
      },
    ],
    build: {
      ...renderer.build,
      minify: true,
      rolldownOptions: { input: path.join(renderer.root ?? project, 'index.html') },
    },
  },
});
