import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { guiLink } from './gui-link.ts';

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
