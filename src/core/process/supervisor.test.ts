import { describe, expect, it } from 'vitest';
import type { ChildHandle } from '#core/ports.ts';
import { quietLog } from '#test/helpers/model-service.ts';
import { Supervisor } from './supervisor.ts';
import type { SupervisorOptions, WorkerState } from './supervisor.ts';

/** A child under the test's control. */
class FakeChild implements ChildHandle {
  readonly pid = 1;
  readonly sent: unknown[] = [];
  #message: (message: unknown) => void = () => {};
  readonly #exit: ((exit: { code: number | null; signal: string | null }) => void)[] = [];

  send(message: unknown): void {
    this.sent.push(message);
  }
  onMessage(listener: (message: unknown) => void): void {
    this.#message = listener;
  }
  onExit(listener: (exit: { code: number | null; signal: string | null }) => void): void {
    this.#exit.push(listener);
  }
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.die(null, signal);
  }
  says(message: unknown): void {
    this.#message(message);
  }
  die(code: number | null, signal: string | null): void {
    for (const listener of this.#exit.splice(0)) listener({ code, signal });
  }
}

function supervised(options: Partial<SupervisorOptions> = {}) {
  const children: FakeChild[] = [];
  const states: WorkerState[] = [];
  const supervisor = new Supervisor({
    spawn: () => {
      const child = new FakeChild();
      children.push(child);
      setTimeout(() => {
        child.says({ kind: 'ready' });
      }, 1);
      return child;
    },
    clock: { now: () => Date.now() },
    log: quietLog,
    onState: (state) => states.push(state),
    onEvent: () => {},
    firstPauseMs: 5,
    ...options,
  });
  return { supervisor, children, states };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('a supervised child', () => {
  it('is started by the first call and answers by id', async () => {
    const { supervisor, children } = supervised();
    const first = supervisor.call('a', 1);
    const second = supervisor.call('b', 2);
    await until(() => children[0]?.sent.length === 2);
    children[0]?.says({ kind: 'result', id: 2, value: 'two' });
    children[0]?.says({ kind: 'error', id: 1, error: { code: 'NOT_FOUND', message: 'one', data: {} } });
    await expect(second).resolves.toBe('two');
    await expect(first).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(children).toHaveLength(1);
    await supervisor.dispose();
  });

  it('fails its calls when it dies and comes back', async () => {
    const { supervisor, children, states } = supervised();
    const call = supervisor.call('a', 1);
    await until(() => children[0]?.sent.length === 1);
    children[0]?.die(null, 'SIGSEGV');
    await expect(call).rejects.toMatchObject({ code: 'MODEL_CRASHED', data: { signal: 'SIGSEGV' } });
    await until(() => supervisor.state === 'ready');
    expect(states).toEqual(['starting', 'ready', 'restarting', 'ready']);
    expect(supervisor).toMatchObject({ restarts: 1, generation: 2 });
    await supervisor.dispose();
  });

  it('stays down after dying again and again, until the next call', async () => {
    const { supervisor, children } = supervised({ mostCrashes: 3 });
    await supervisor.start();
    for (let crash = 1; crash <= 3; crash += 1) {
      children.at(-1)?.die(1, null);
      if (crash < 3) await until(() => supervisor.state === 'ready');
    }
    expect(supervisor.state).toBe('failed');
    expect(children).toHaveLength(3);
    await supervisor.start();
    expect(supervisor.state).toBe('ready');
    await supervisor.dispose();
  });

  it('is killed when it answers no ping while a call waits', async () => {
    const { supervisor } = supervised({ hangMs: 40 });
    await expect(supervisor.call('a', 1)).rejects.toMatchObject({
      code: 'MODEL_CRASHED',
      data: { signal: 'SIGKILL' },
    });
    await supervisor.dispose();
  });

  it('hears of a cancelled call; the caller does not wait', async () => {
    const { supervisor, children } = supervised();
    const controller = new AbortController();
    const call = supervisor.call('a', 1, controller.signal);
    await until(() => children[0]?.sent.length === 1);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(children[0]?.sent.at(-1)).toEqual({ kind: 'cancel', id: 1 });
    children[0]?.says({ kind: 'result', id: 1, value: 'late' });
    await supervisor.dispose();
  });

  it('survives messages that it cannot read', async () => {
    const { supervisor, children } = supervised();
    const call = supervisor.call('a', 1);
    await until(() => children[0]?.sent.length === 1);
    for (const nonsense of [
      null,
      'x',
      { kind: 'result' },
      { kind: 'error', id: '1' },
      { kind: 'error', id: 7 },
    ])
      children[0]?.says(nonsense);
    children[0]?.says({ kind: 'result', id: 1, value: 'fine' });
    await expect(call).resolves.toBe('fine');
    await supervisor.dispose();
  });

  it('ends a call whose answer cannot be read: the worker has done with it and still answers pings', async () => {
    const { supervisor, children } = supervised();
    const call = supervisor.call('a', 1);
    await until(() => children[0]?.sent.length === 1);
    children[0]?.says({ kind: 'error', id: 1, error: { code: 'A_NEWER_CODE', message: 'x', data: {} } });
    await expect(call).rejects.toMatchObject({ code: 'MODEL_CRASHED' });
    await supervisor.dispose();
  });
});
