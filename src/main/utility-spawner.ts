/** Children as Electron utility processes: the bundled entry runs on Electron's own Node, apart from the window. */
import { createInterface } from 'node:readline';
import type { ChildHandle, Logger, ProcessSpawner } from '#core/ports.ts';
import type { ElectronApi, UtilityProcessPart } from './electron-api.ts';

export interface UtilitySpawnerOptions {
  /** Absolute path of each bundled entry. */
  entries: Readonly<Record<Parameters<ProcessSpawner['spawn']>[0], string>>;
  log: Logger;
  /** `process.kill`; utility processes only know a gentle end. */
  kill(pid: number, signal: 'SIGKILL'): void;
  env?: Readonly<Record<string, string | undefined>>;
}

function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export function createUtilitySpawner(
  { utilityProcess }: Pick<ElectronApi, 'utilityProcess'>,
  options: UtilitySpawnerOptions,
): ProcessSpawner {
  return {
    spawn(entry, { env }) {
      const child = utilityProcess.fork(options.entries[entry], [], {
        serviceName: `Daydream ${entry}`,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: defined({ ...options.env, ...env }),
      });
      if (child.stderr !== null) {
        // Native libraries say why they abort on stderr, and only there.
        createInterface({ input: child.stderr }).on('line', (line) => {
          options.log.warn({ entry, line }, 'worker-stderr');
        });
      }
      return handleOf(child, options);
    },
  };
}

function handleOf(child: UtilityProcessPart, { kill, log }: UtilitySpawnerOptions): ChildHandle {
  let ended = false;
  child.on('exit', () => {
    ended = true;
  });
  child.on('error', (type, location) => {
    log.error({ type, location }, 'worker-fatal');
  });
  return {
    get pid() {
      return child.pid;
    },
    send(message) {
      if (!ended) child.postMessage(message);
    },
    onMessage(listener) {
      child.on('message', listener);
    },
    onExit(listener) {
      // Electron reports a signal as its exit code.
      child.on('exit', (code) => {
        listener({ code, signal: null });
      });
    },
    kill(signal) {
      if (ended) return;
      if (signal === 'SIGTERM' || child.pid === undefined) {
        child.kill();
        return;
      }
      try {
        kill(child.pid, 'SIGKILL');
      } catch (error) {
        // It ended between the two lines.
        log.debug({ error: String(error) }, 'worker-already-gone');
      }
    },
  };
}
