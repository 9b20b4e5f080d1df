import { afterEach, describe, expect, it, vi } from 'vitest';
import { Connection } from './connection.ts';
import type { Transport } from './connection.ts';

class FakeTransport implements Transport {
  readonly link = { call: (path: readonly string[]) => Promise.resolve(path.join('.')) };
  readonly #opened = Promise.withResolvers<undefined>();
  readonly #closed = Promise.withResolvers<undefined>();
  readonly opened = this.#opened.promise;
  readonly closed = this.#closed.promise;
  open = () => {
    this.#opened.resolve(undefined);
  };
  refuse = () => {
    this.#opened.reject(new Error('refused'));
    this.#closed.resolve(undefined);
  };
  close = () => {
    this.#closed.resolve(undefined);
  };
}

function setUp(patienceMs = 1000) {
  vi.useFakeTimers();
  const transports: FakeTransport[] = [];
  const connection = new Connection({
    open: () => {
      const transport = new FakeTransport();
      transports.push(transport);
      return transport;
    },
    backOff: (attempt) => 100 * (attempt + 1),
    patienceMs,
  });
  const last = () => {
    const transport = transports.at(-1);
    if (transport === undefined) throw new Error('nothing was opened');
    return transport;
  };
  return { connection, transports, last };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

afterEach(() => {
  vi.useRealTimers();
});

describe('the connection to the host', () => {
  it('holds a call until it is open', async () => {
    const { connection, last } = setUp();
    const call = connection.call(['jobs', 'list'], {}, { context: {} });
    last().open();
    await expect(call).resolves.toBe('jobs.list');
    expect(connection.state).toBe('open');
  });

  it('opens a lost connection again with back-off, and calls go over the new one', async () => {
    const { connection, transports, last } = setUp();
    last().open();
    await settle();
    last().close();
    await settle();
    expect(connection.state).toBe('lost');
    expect(transports).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(transports).toHaveLength(2);
    const call = connection.call(['a'], {}, { context: {} });
    last().open();
    await expect(call).resolves.toBe('a');
  });

  it('fails a call that waits too long with HOST_UNREACHABLE', async () => {
    const { connection } = setUp(500);
    const call = connection.call(['a'], {}, { context: {} });
    const failed = expect(call).rejects.toMatchObject({ code: 'HOST_UNREACHABLE' });
    await vi.advanceTimersByTimeAsync(500);
    await failed;
  });

  it('gives a waiting call up at once when it is aborted', async () => {
    const { connection } = setUp();
    const stop = new AbortController();
    const call = connection.call(['a'], {}, { context: {}, signal: stop.signal });
    const failed = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    stop.abort();
    await failed;
  });

  it('says refused when a host that was never open turns it away again and again', async () => {
    const { connection, last } = setUp();
    for (const wait of [100, 200, 300]) {
      last().refuse();
      await vi.advanceTimersByTimeAsync(wait);
    }
    expect(connection.state).toBe('refused');
  });

  it('tries no more once it is closed', async () => {
    const { connection, transports, last } = setUp();
    last().open();
    await settle();
    connection.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(transports).toHaveLength(1);
  });
});
