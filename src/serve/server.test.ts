import { once } from 'node:events';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket as WsClient } from 'ws';
import type { ClientOptions } from 'ws';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';
import type { Client } from '#shared/contract/index.ts';
import { serve } from './server.ts';
import type { RunningServer } from './server.ts';

let test: TestApp;
let server: RunningServer;
let files: string;

beforeAll(async () => {
  test = await openTestApp();
  files = await mkdtemp(join(tmpdir(), 'daydream-files-'));
  await mkdir(join(files, 'assets'));
  await writeFile(join(files, 'index.html'), '<!doctype html><title>Daydream</title>');
  await writeFile(join(files, 'assets', 'a-1.js'), 'export {};');
  await writeFile(join(files, '..', 'daydream-secret.txt'), 'secret');
  server = await serve({ app: test.app, port: 0, files });
});
afterAll(async () => {
  await server.close();
  await test.dispose();
  await rm(files, { recursive: true });
  await rm(join(files, '..', 'daydream-secret.txt'));
});

it('answers with a page that asks again while its GUI is being built, and then with the GUI', async () => {
  const built = Promise.withResolvers<string>();
  const starting = await serve({ app: test.app, port: 0, files: built.promise });
  const page = () => fetch(`http://127.0.0.1:${String(starting.port)}/jobs`);
  const early = await page();
  expect(early.status).toBe(503);
  expect(early.headers.get('refresh')).toBe('2');
  expect(await early.text()).toContain('is being built');
  built.resolve(files);
  await built.promise;
  expect((await page()).status).toBe(200);
  await starting.close();
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Not `fetch`: it would set Host and tidy the path up. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const sent = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** 101 when the WebSocket opens, else the refusal's status. */
async function upgrade(path: string, options: ClientOptions = {}): Promise<number> {
  const socket = new WsClient(`ws://127.0.0.1:${String(server.port)}${path}`, options);
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('error', (error) => {
      if (!/Unexpected server response|closed before/.test(error.message)) reject(error);
    });
  });
}

const withToken = () => `/rpc?token=${server.token}`;

describe('the WebSocket', () => {
  it('carries the whole contract for who has the token', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${String(server.port)}${withToken()}`);
    const client: Client = createORPCClient(new RPCLink({ websocket: socket }));
    expect((await client.environments.list()).map(({ id }) => id)).toContain('household-small');
    await expect(client.jobs.get({ jobId: 'x' as never })).rejects.toMatchObject({
      code: 'APP',
      data: { code: 'NOT_FOUND' },
    });
    const stop = new AbortController();
    const stream = await client.system.watch(undefined, { signal: stop.signal });
    expect((await stream.next()).done).toBe(false);
    stop.abort();
    // The abort is sent in a later turn; a closed socket could not carry it.
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.close();
  });

  it('is refused without the token, or with a wrong one', async () => {
    expect(await upgrade('/rpc')).toBe(401);
    expect(await upgrade('/rpc?token=')).toBe(401);
    expect(await upgrade(`/rpc?token=${server.token}x`)).toBe(401);
    expect(await upgrade(withToken())).toBe(101);
  });

  it('is refused to a foreign Origin or Host even with the token', async () => {
    expect(await upgrade(withToken(), { origin: 'http://evil.example' })).toBe(403);
    expect(await upgrade(withToken(), { origin: 'null' })).toBe(403);
    expect(await upgrade(withToken(), { headers: { host: `rebound.example:${String(server.port)}` } })).toBe(
      403,
    );
    expect(await upgrade(withToken(), { origin: `http://127.0.0.1:${String(server.port)}` })).toBe(101);
  });

  it('is nowhere but at /rpc', async () => {
    expect(await upgrade(`/other?token=${server.token}`)).toBe(404);
    expect(await upgrade(`/rpc/x?token=${server.token}`)).toBe(404);
  });

  it('survives garbage and closes on a frame that is too large', async () => {
    const warn = vi.spyOn(test.app.services.log, 'warn').mockImplementation(() => undefined);
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const socket = new WsClient(`ws://127.0.0.1:${String(server.port)}${withToken()}`);
    await once(socket, 'open');
    for (const garbage of [
      '',
      'null',
      '[]',
      '{"i":1}',
      '{"i":"1","p":{"u":"http://[","b":1}}',
      '\0'.repeat(1000),
    ])
      socket.send(garbage);
    socket.send(Buffer.from([255, 255, 0]));
    socket.send('a'.repeat(5 * 1024 * 1024));
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1009);
    expect(await upgrade(withToken())).toBe(101);
    // One line for all of it, without a stack: no client can fill the log.
    expect(warn.mock.calls).toEqual([
      [{ reason: expect.stringMatching(/^[^\n]{1,200}$/) }, 'message-unreadable'],
    ]);
    expect(printed).not.toHaveBeenCalled();
    warn.mockRestore();
    printed.mockRestore();
  });
});

describe('the files', () => {
  it('are served with a policy that lets nothing else in', async () => {
    const page = await get('/');
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('Daydream') });
    expect(page.headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    const script = await get('/assets/a-1.js');
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': expect.stringContaining('immutable'),
    });
  });

  it('answer the index for every page address and 404 for a missing file', async () => {
    expect(await get('/runs/abc')).toMatchObject({ status: 200, body: expect.stringContaining('<title>') });
    expect(await get('/assets/missing.js')).toMatchObject({ status: 404 });
  });

  it.each([
    '/../daydream-secret.txt',
    '/%2e%2e/daydream-secret.txt',
    '/..%2fdaydream-secret.txt',
    '/assets/../../daydream-secret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fdaydream-secret.txt',
    '/..\\daydream-secret.txt',
    '/%00.txt',
    '/%E0%A4%A.txt',
  ])('give away nothing outside their folder: %s', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(404);
    expect(answer.body).not.toContain('secret');
  });

  it('are refused to a rebound name and to other methods', async () => {
    expect(await get('/', { host: 'rebound.example' })).toMatchObject({ status: 403 });
    expect(await get('/', {}, 'POST')).toMatchObject({ status: 405 });
    expect(await get('/', {}, 'HEAD')).toMatchObject({ status: 200, body: '' });
  });
});

it('says in words that a port is taken', async () => {
  await expect(serve({ app: test.app, port: server.port, files: null })).rejects.toMatchObject({
    code: 'CONFLICT',
  });
});
