import { afterEach, describe, expect, it, vi } from 'vitest';
import { Connection, Refused } from './connection.ts';
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
  refuse = (reason = new Error('gone')) => {
    this.#opened.reject(reason);
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

  it('says of a call in flight when the host goes that the host does not answer', async () => {
    const { connection, last } = setUp();
    const transport = last();
    transport.open();
    await settle();
    const inFlight = Promise.withResolvers<string>();
    transport.link.call = () => inFlight.promise;
    const call = connection.call(['jobs', 'list'], {}, { context: {} });
    const failed = expect(call).rejects.toMatchObject({ code: 'HOST_UNREACHABLE' });
    await settle();
    transport.close();
    await settle();
    inFlight.reject(new Error('[AsyncIdQueue] Queue[7] was closed'));
    await failed;
    connection.close();
  });

  it('says that a host which comes back with another token refuses it, and goes on when it lets it in', async () => {
    const { connection, last } = setUp();
    last().open();
    await settle();
    last().close();
    await settle();
    expect(connection.state).toBe('lost');
    await vi.advanceTimersByTimeAsync(100);
    last().refuse();
    await settle();
    expect(connection.state).toBe('lost');
    await vi.advanceTimersByTimeAsync(200);
    last().refuse(new Refused('other token'));
    await settle();
    expect(connection.state).toBe('refused');
    await vi.advanceTimersByTimeAsync(300);
    last().open();
    await settle();
    expect(connection.state).toBe('open');
    connection.close();
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

  it('gives an attempt up that never opens, and tries again', async () => {
    const { connection, transports, last } = setUp();
    const closed = vi.spyOn(last(), 'close');
    await vi.advanceTimersByTimeAsync(4999);
    expect(connection.state).toBe('connecting');
    await vi.advanceTimersByTimeAsync(1);
    expect(connection.state).toBe('lost');
    expect(closed).toHaveBeenCalledOnce();
    // Who says nothing has refused nothing, however often.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connection.state).toBe('lost');
    expect(transports.length).toBeGreaterThan(5);
    await vi.advanceTimersByTimeAsync(5000);
    last().open();
    await settle();
    expect(connection.state).toBe('open');
    const count = transports.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(transports).toHaveLength(count);
  });

  it('tries anew at once when it is asked to, also while an attempt hangs', async () => {
    const { connection, transports, last } = setUp();
    const hanging = last();
    const closed = vi.spyOn(hanging, 'close');
    connection.retryNow();
    expect(transports).toHaveLength(2);
    expect(closed).toHaveBeenCalledOnce();
    hanging.open();
    await settle();
    expect(connection.state).toBe('connecting');
    last().open();
    await settle();
    expect(connection.state).toBe('open');
    connection.retryNow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(transports).toHaveLength(2);
    connection.close();
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
