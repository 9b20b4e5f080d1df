import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createUtilitySpawner } from '../../src/main/utility-spawner.ts';
import { createFakeElectron, silentLog } from './fake-electron.ts';

function spawned(options: { killFails?: boolean } = {}) {
  const electron = createFakeElectron();
  const log = silentLog();
  const killed: [number, string][] = [];
  const spawner = createUtilitySpawner(electron.api, {
    entries: { inference: '/app/out/workers/inference/main.js', trainer: '/app/out/workers/trainer/main.js' },
    log,
    kill: (pid, signal) => {
      if (options.killFails === true) throw new Error('ESRCH');
      killed.push([pid, signal]);
    },
    env: { PATH: '/usr/bin', EMPTY: undefined },
  });
  const handle = spawner.spawn('inference', { env: { DAYDREAM_MAX_THREADS: '1' } });
  return { handle, child: electron.children[0]!, log, killed };
}

describe('the utility process', () => {
  it('runs the bundled entry with the given environment', () => {
    const { handle, child } = spawned();
    expect(child.entry).toBe('/app/out/workers/inference/main.js');
    expect(child.options.env).toEqual({ PATH: '/usr/bin', DAYDREAM_MAX_THREADS: '1' });
    expect(child.options.stdio).toEqual(['ignore', 'ignore', 'pipe']);
    expect(handle.pid).toBe(4242);
  });

  it('carries messages both ways', () => {
    const { handle, child } = spawned();
    const received: unknown[] = [];
    handle.onMessage((message) => received.push(message));
    handle.send({ call: 1 });
    child.emit('message', { result: 2 });
    expect(child.posted).toEqual([{ call: 1 }]);
    expect(received).toEqual([{ result: 2 }]);
  });

  it('tells its exit once and takes no more messages after it', () => {
    const { handle, child } = spawned();
    const exits: unknown[] = [];
    handle.onExit((exit) => exits.push(exit));
    child.emit('exit', 139);
    handle.send({ late: true });
    handle.kill('SIGKILL');
    expect(exits).toEqual([{ code: 139, signal: null }]);
    expect(child.posted).toEqual([]);
    expect(child.kills).toBe(0);
  });

  it('ends gently on SIGTERM and by the process id on SIGKILL', () => {
    const { handle, child, killed } = spawned();
    handle.kill('SIGTERM');
    expect(child.kills).toBe(1);
    handle.kill('SIGKILL');
    expect(killed).toEqual([[4242, 'SIGKILL']]);
  });

  it('ends gently while there is no process id yet', () => {
    const { handle, child, killed } = spawned();
    child.pid = undefined;
    handle.kill('SIGKILL');
    expect(child.kills).toBe(1);
    expect(killed).toEqual([]);
  });

  it('survives the race with a process that is already gone', () => {
    const { handle, log } = spawned({ killFails: true });
    handle.kill('SIGKILL');
    expect(log.events.map(({ event }) => event)).toEqual(['worker-already-gone']);
  });

  it('logs what a native library writes before it aborts', async () => {
    const electron = createFakeElectron();
    const log = silentLog();
    const stderr = new PassThrough();
    const fork = electron.api.utilityProcess.fork;
    const withStderr = {
      utilityProcess: {
        fork: (...args: Parameters<typeof fork>) => Object.assign(fork(...args), { stderr }),
      },
    };
    const spawner = createUtilitySpawner(withStderr, {
      entries: { inference: 'x', trainer: 'y' },
      log,
      kill: () => undefined,
    });
    spawner.spawn('inference', {});
    stderr.end('GGML_ASSERT failed\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.events).toEqual([
      { level: 'warn', event: 'worker-stderr', fields: { entry: 'inference', line: 'GGML_ASSERT failed' } },
    ]);
  });

  it('logs a fatal error of the engine', () => {
    const { child, log } = spawned();
    child.emit('error', 'FatalError', 'v8::heap');
    expect(log.events[0]).toMatchObject({ level: 'error', event: 'worker-fatal' });
  });
});
