/** `app://daydream/…` serves the built GUI: files of one folder, the index page for a page address, nothing else. */
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { ElectronApi } from './electron-api.ts';
import { isOwnUrl, origin, scheme } from './origin.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** Only our own files run or load; inline styles are Mantine's. The host is reached by a MessagePort, so there is no network at all. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

function refuse(status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' },
  });
}

/** The part of the address after the host, decoded; null for what is no plain path. */
function pathOf(url: string): string | null {
  const raw = url.slice(origin.length).replace(/[?#].*$/su, '');
  try {
    const decoded = decodeURIComponent(raw);
    return /[\0\\:]/u.test(decoded) ? null : decoded;
  } catch {
    return null;
  }
}

/** The real file below `folder`; null for one outside (dots, links) or one that does not exist. */
async function fileBelow(folder: string, relative: string): Promise<string | null> {
  const file = path.join(folder, relative);
  if (file !== folder && !file.startsWith(folder + path.sep)) return null;
  const [realFolder, realFile] = await Promise.all([
    realpath(folder).catch(() => null),
    realpath(file).catch(() => null),
  ]);
  if (realFolder === null || realFile === null) return null;
  return realFile.startsWith(realFolder + path.sep) ? realFile : null;
}

/** @param folder absolute path of out/renderer */
export function createFileHandler(folder: string): (request: Request) => Promise<Response> {
  const root = path.resolve(folder);
  return async ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Only GET and HEAD.');
    const relative = isOwnUrl(url) ? pathOf(url) : null;
    if (relative === null) return refuse(400, 'Not an address of this application.');
    // Addresses of pages have no extension: the router inside the page reads them.
    const isPage = path.posix.extname(relative) === '';
    const traversal = relative.split('/').includes('..');
    const file = traversal ? null : await fileBelow(root, isPage ? 'index.html' : relative);
    const body = file === null ? null : await readFile(file).catch(() => null);
    if (file === null || body === null) return refuse(404, 'Not found.');
    const type = types[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
    return new Response(method === 'HEAD' ? null : new Uint8Array(body), {
      headers: { ...headers, 'Content-Type': type, 'Content-Length': String(body.byteLength) },
    });
  };
}

/** Before `ready`. Standard and secure: relative addresses, storage and `fetch` work as on the web. */
export function registerScheme({ protocol }: Pick<ElectronApi, 'protocol'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** After `ready`. */
export function serveFiles({ protocol }: Pick<ElectronApi, 'protocol'>, folder: string): void {
  protocol.handle(scheme, createFileHandler(folder));
}
