/** The built GUI over HTTP: GET and HEAD only, nothing outside its folder, the index page for every page address. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.map': 'application/json; charset=utf-8',
};

export function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

/** A browser asks again by itself; the token in its address bar stays. */
export function sendBuilding(response: ServerResponse): void {
  response.setHeader('Refresh', '2');
  response.setHeader('Retry-After', '2');
  sendText(
    response,
    503,
    'Daydream is starting: its GUI is being built. This page shows it as soon as it is there.',
  );
}

/** null: the address is no file name of ours (broken escapes, zero bytes, a way out of the folder). */
function fileFor(folder: string, pathname: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (decoded.includes('\0') || decoded.includes('\\')) return null;
  const file = normalize(join(folder, decoded));
  return file === folder || file.startsWith(folder + sep) ? file : null;
}

async function sizeOfFile(file: string): Promise<number | null> {
  return stat(file).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
}

export async function sendStatic(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    sendText(response, 405, 'Only GET and HEAD.');
    return;
  }
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const wanted = fileFor(folder, pathname);
  const isPage = extname(pathname) === '';
  const file = isPage ? join(folder, 'index.html') : wanted;
  const size = wanted === null || file === null ? null : await sizeOfFile(file);
  if (file === null || size === null) {
    sendText(response, 404, 'Not found.');
    return;
  }
  // Vite puts a content hash into every name below assets/.
  const cache = pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  response.writeHead(200, {
    'Content-Type': types[extname(file)] ?? 'application/octet-stream',
    'Content-Length': size,
    'Cache-Control': cache,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response);
}
