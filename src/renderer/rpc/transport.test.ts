import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { socketTransport } from './transport.ts';
import type { Transport } from './connection.ts';

class FakeSocket extends EventTarget {
  static last: FakeSocket;
  readyState = 0;
  readonly sent: string[] = [];
  constructor() {
    super();
    FakeSocket.last = this;
  }
  send(message: string): void {
    if (this.readyState !== 1) throw new Error('sent while not open');
    this.sent.push(message);
  }
  become(readyState: number, event?: string): void {
    this.readyState = readyState;
    if (event !== undefined) this.dispatchEvent(new Event(event));
  }
}

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('fetch', () => Promise.reject(new Error('gone')));
});
afterEach(() => {
  process.off('unhandledRejection', note);
  vi.unstubAllGlobals();
});

const turn = () => new Promise((resolve) => setTimeout(resolve, 10));

async function opened(): Promise<{ transport: Transport; socket: FakeSocket }> {
  const transport = socketTransport(null);
  FakeSocket.last.become(1, 'open');
  await transport.opened;
  return { transport, socket: FakeSocket.last };
}

const call = (transport: Transport, signal?: AbortSignal) =>
  transport.link.call(['jobs', 'list'], {}, signal === undefined ? { context: {} } : { context: {}, signal });

describe('a socket whose host is killed', () => {
  it.each([
    ['closing', 2],
    ['closed', 3],
  ])('lets a call in flight be given up while it is %s and its event has not come', async (_, readyState) => {
    const { transport, socket } = await opened();
    const giveUp = new AbortController();
    const failed = expect(call(transport, giveUp.signal)).rejects.toBeDefined();
    await turn();
    expect(socket.sent).toHaveLength(1);
    socket.become(readyState);
    giveUp.abort();
    await turn();
    socket.become(3, 'close');
    await failed;
    await transport.closed;
    expect(unhandled).toEqual([]);
  });

  it('lets a call in flight be given up by whoever hears first that it closed', async () => {
    const { transport, socket } = await opened();
    const giveUp = new AbortController();
    void transport.closed.then(() => {
      giveUp.abort();
    });
    const failed = expect(call(transport, giveUp.signal)).rejects.toBeDefined();
    await turn();
    socket.become(3, 'close');
    await failed;
    await turn();
    expect(unhandled).toEqual([]);
  });

  it.each([
    ['closing', 2],
    ['closed', 3],
  ])('refuses a call while it is %s, in words for a reader', async (_, readyState) => {
    const { transport, socket } = await opened();
    socket.become(readyState);
    await expect(call(transport)).rejects.toMatchObject({ code: 'HOST_UNREACHABLE' });
    expect(unhandled).toEqual([]);
    expect(socket.sent).toEqual([]);
  });
});

it('sends what was asked before it was open when it is', async () => {
  const transport = socketTransport(null);
  const giveUp = new AbortController();
  const failed = expect(call(transport, giveUp.signal)).rejects.toBeDefined();
  await turn();
  expect(FakeSocket.last.sent).toEqual([]);
  FakeSocket.last.become(1, 'open');
  await turn();
  expect(FakeSocket.last.sent).toHaveLength(1);
  giveUp.abort();
  await failed;
});
