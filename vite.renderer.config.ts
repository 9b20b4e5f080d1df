import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * The GUI: one static folder, the same for Electron (`app://daydream/`) and for the browser (`daydream serve`). Addresses are
 * paths (`/runs/…`), so both hosts answer the index page for an address without an extension and assets are absolute.
 * `npm run dev` reaches a host started with `daydream serve` through DAYDREAM_HOST, e.g. http://127.0.0.1:4100.
 */
const project = import.meta.dirname;
const host = process.env['DAYDREAM_HOST'];

export default defineConfig({
  root: join(project, 'src/renderer'),
  base: '/',
  publicDir: join(project, 'src/renderer/public'),
  cacheDir: join(project, '.cache/vite'),
  plugins: [react()],
  build: {
    outDir: join(project, 'out/renderer'),
    emptyOutDir: true,
    target: 'es2023',
    // Fonts stay files: a data: font would have to be allowed by the CSP and cannot be cached.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
  },
  server: {
    host: '127.0.0.1',
    ...(host === undefined
      ? {}
      : { proxy: { '/rpc': { target: host, ws: true, changeOrigin: true, headers: { origin: host } } } }),
  },
});
