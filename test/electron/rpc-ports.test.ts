import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { os } from '@orpc/server';
import type { RouterClient } from '@orpc/server';
import { z } from 'zod';
import { RPCHandler } from '@orpc/server/message-port';
import { describe, expect, it } from 'vitest';
import { portMessage } from '#shared/host.ts';
import { handOverPorts } from '../../src/main/rpc-ports.ts';
import { FakeWebContents, createFakeElectron, ipcEvent, silentLog } from './fake-electron.ts';
import type { FakePort } from './fake-electron.ts';

function connected() {
  const electron = createFakeElectron();
  const log = silentLog();
  const aborted = Promise.withResolvers<boolean>();
  const router = {
    echo: os.input(z.object({ text: z.string() })).handler(({ input }) => input),
    ticks: os.handler(async function* ({ signal }) {
      signal?.addEventListener('abort', () => {
        aborted.resolve(true);
      });
      for (let tick = 0; ; tick += 1) {
        yield tick;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }),
  };
  const handler = new RPCHandler(router);
  handOverPorts(electron.api, { upgrade: (port) => void handler.upgrade(port), log });
  const contents = new FakeWebContents();
  const request = (frame?: { url?: string; parent?: object | null } | null) =>
    electron.ipcMain.emit(portMessage, ipcEvent(contents, frame));
  const clientOn = (port: FakePort): RouterClient<typeof router> => {
    port.start();
    return createORPCClient(new RPCLink({ port }));
  };
  return { contents, request, clientOn, log, aborted: aborted.promise };
}

describe('the port hand-over', () => {
  it('carries calls of the page to the router', async () => {
    const { contents, request, clientOn } = connected();
    request();
    expect(contents.posted).toHaveLength(1);
    expect(contents.posted[0]?.channel).toBe(portMessage);
    const port = contents.posted[0]!.ports[0]!;
    expect(await clientOn(port).echo({ text: 'ünïcode' })).toEqual({ text: 'ünïcode' });
    port.close();
  });

  it('closes the earlier channel of a reloaded page and aborts what it streamed', async () => {
    const { contents, request, clientOn, aborted } = connected();
    request();
    const first = clientOn(contents.posted[0]!.ports[0]!);
    const stream = await first.ticks();
    const seen: number[] = [];
    for await (const tick of stream) {
      seen.push(tick);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([0, 1, 2]);
    request();
    expect(await aborted).toBe(true);
    const port = contents.posted[1]!.ports[0]!;
    expect(await clientOn(port).echo({ text: 'again' })).toEqual({ text: 'again' });
    port.close();
  });

  it.each([
    ['a frame inside the page', { parent: {} }],
    ['a foreign page', { url: 'https://evil.com/' }],
    ['a frame that is gone', null],
  ])('gives nothing to %s', (_name, frame) => {
    const { contents, request, log } = connected();
    request(frame);
    expect(contents.posted).toEqual([]);
    expect(log.events.map(({ event }) => event)).toEqual(['port-denied']);
  });
});
