import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  contentSecurityPolicy,
  createFileHandler,
  registerScheme,
  serveFiles,
} from '../../src/main/protocol.ts';
import { createFakeElectron } from './fake-electron.ts';

describe('app:// files', () => {
  let base: string;
  let handle: (request: Request) => Promise<Response>;
  const get = (url: string, method = 'GET') => handle({ method, url } as Request);

  beforeAll(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'daydream-protocol-'));
    const folder = path.join(base, 'renderer');
    await mkdir(path.join(folder, 'assets'), { recursive: true });
    await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>Daydream</title>');
    await writeFile(path.join(folder, 'assets', 'app-1a2b.js'), 'export {};');
    await writeFile(path.join(folder, 'assets', 'app-1a2b.css'), 'body{}');
    await writeFile(path.join(folder, 'assets', 'inter.woff2'), 'font');
    await writeFile(path.join(folder, 'assets', 'a name.svg'), '<svg/>');
    await writeFile(path.join(base, 'secret.txt'), 'secret');
    await symlink(path.join(base, 'secret.txt'), path.join(folder, 'assets', 'link.txt'));
    await mkdir(path.join(base, 'renderer-other'));
    await writeFile(path.join(base, 'renderer-other', 'a.txt'), 'secret');
    handle = createFileHandler(folder);
  });
  afterAll(() => rm(base, { recursive: true, force: true }));

  it.each([
    ['/', 'text/html; charset=utf-8'],
    ['/assets/app-1a2b.js', 'text/javascript; charset=utf-8'],
    ['/assets/app-1a2b.css?v=1#x', 'text/css; charset=utf-8'],
    ['/assets/inter.woff2', 'font/woff2'],
    ['/assets/a%20name.svg', 'image/svg+xml'],
  ])('serves %s as %s with a strict policy', async (address, type) => {
    const response = await get(`app://daydream${address}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('content-security-policy')).toBe(contentSecurityPolicy);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await response.text()).length).toBe(Number(response.headers.get('content-length')));
  });

  it('allows no inline script and no eval', () => {
    const script = /script-src ([^;]+)/.exec(contentSecurityPolicy)?.[1];
    expect(script).toBe("'self'");
    expect(contentSecurityPolicy).toContain("default-src 'none'");
  });

  it.each(['/runs/new', '/trajectories?environment=household', '/environments/household/play'])(
    'answers the page address %s with the index page',
    async (address) => {
      const response = await get(`app://daydream${address}`);
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('<title>Daydream</title>');
    },
  );

  it.each([
    ['/assets/missing.js', 404],
    ['/assets/link.txt', 404],
    ['/../secret.txt', 404],
    ['/assets/../../secret.txt', 404],
    ['/..%2fsecret.txt', 404],
    ['/%2e%2e/secret.txt', 404],
    ['/../renderer-other/a.txt', 404],
    ['/..%5csecret.txt', 400],
    ['/assets/app-1a2b.js%00.txt', 400],
    ['/%zz.js', 400],
    ['/C:/Windows/win.ini', 400],
  ])('answers %s with %i', async (address, status) => {
    const response = await get(`app://daydream${address}`);
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('secret');
  });

  it.each(['app://other/', 'https://daydream/', 'app://daydream.evil/', 'app:daydream'])(
    'refuses the foreign address %s',
    async (url) => {
      expect((await get(url)).status).toBe(400);
    },
  );

  it('knows GET and HEAD only', async () => {
    const head = await get('app://daydream/', 'HEAD');
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    expect((await get('app://daydream/', 'POST')).status).toBe(405);
  });

  it('never leaves its folder, whatever the address', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '%2e%2e',
        '%2f',
        '%5c',
        '/',
        '\\',
        '%00',
        'assets',
        'secret.txt',
        'renderer-other',
        'a.txt',
      ),
      fc.string({ maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const response = await get(`app://daydream/${pieces.join('/')}`);
        expect([200, 400, 404]).toContain(response.status);
        expect(await response.text()).not.toContain('secret\n');
        expect(response.headers.get('content-security-policy')).toBe(contentSecurityPolicy);
      }),
      { numRuns: 300 },
    );
  });

  it('registers a standard, secure scheme and its handler', async () => {
    const electron = createFakeElectron();
    registerScheme(electron.api);
    serveFiles(electron.api, path.join(base, 'renderer'));
    expect(electron.record.schemes).toEqual([
      expect.objectContaining({
        scheme: 'app',
        privileges: expect.objectContaining({ standard: true, secure: true }),
      }),
    ]);
    expect(electron.record.schemes[0]?.privileges).not.toHaveProperty('bypassCSP');
    const response = await electron.state.handler?.({ method: 'GET', url: 'app://daydream/' } as Request);
    expect(response?.status).toBe(200);
  });
});
