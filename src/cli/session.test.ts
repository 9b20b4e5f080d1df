import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { acquireHostLock } from '#core/store/index.ts';
import { guiLink } from './gui-link.ts';
import { openSession } from './session.ts';

it('gives the link of a host only while it shows a GUI', async () => {
  let status = 200;
  const server = createServer((_request, response) => response.writeHead(status).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { port, token: 'abc' };
  expect(await guiLink(address)).toBe(`http://127.0.0.1:${String(port)}/#token=abc`);
  // Until the GUI is built, its page asks again by itself.
  status = 503;
  expect(await guiLink(address)).toBe(`http://127.0.0.1:${String(port)}/#token=abc`);
  status = 404;
  expect(await guiLink(address)).toBeNull();
  server.close();
  await once(server, 'close');
  expect(await guiLink(address)).toBeNull();
});

it('waits for one holder of the data folder after the other, and gives up on one that neither answers nor ends', async () => {
  const data = await mkdtemp(join(tmpdir(), 'daydream-session-'));
  let lock = acquireHostLock(data);
  // No gap between two holders in which anybody else gets it.
  const turns = setInterval(() => {
    lock.release();
    lock = acquireHostLock(data);
  }, 100);
  const opened = openSession({ dataDir: data, waitMs: 300 });
  await sleep(900);
  clearInterval(turns);
  lock.release();
  const session = await opened;
  expect(session.attached).toBe(false);
  await session.close();
  const held = acquireHostLock(data);
  await expect(openSession({ dataDir: data, waitMs: 300 })).rejects.toMatchObject({ code: 'HOST_LOCKED' });
  held.release();
  await rm(data, { recursive: true });
});

it('reads the store itself when the host that it asked ends in that moment', async () => {
  const data = await mkdtemp(join(tmpdir(), 'daydream-session-'));
  // Takes the connection and goes away at the first question, as a command does that had just finished.
  const server = createServer().on('upgrade', (request, socket) => {
    const key = `${String(request.headers['sec-websocket-key'])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.once('data', () => {
      server.close();
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await writeFile(join(data, 'host.json'), JSON.stringify({ pid: process.pid, port, token: 'abc' }));
  const entry = new URL('./main.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    'jobs',
    '--json',
    '--data-dir',
    data,
  ]);
  expect(JSON.parse(stdout)).toEqual([]);
  expect(server.listening).toBe(false);
  await rm(data, { recursive: true });
});
