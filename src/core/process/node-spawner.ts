/** Children as forked Node processes: the TypeScript entry runs as it is under the Node that runs us. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChildHandle, ProcessSpawner } from '#core/ports.ts';

/** The build mirrors the source tree (docs/adr/0003); only the extension differs. */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const sourceEntries = {
  inference: new URL(`../../workers/inference/main${extension}`, import.meta.url),
  trainer: new URL(`../../workers/trainer/main${extension}`, import.meta.url),
} as const;

export interface NodeSpawnerOptions {
  /** Where a bundled build keeps the entries. */
  entries?: Partial<Record<keyof typeof sourceEntries, string>>;
  /** A line that the child wrote to stderr (native libraries do, just before they abort). */
  onStderr?(line: string): void;
}

export function createNodeSpawner(options: NodeSpawnerOptions = {}): ProcessSpawner {
  return {
    spawn(entry, { env }) {
      const file = options.entries?.[entry] ?? fileURLToPath(sourceEntries[entry]);
      const child = fork(file, [], {
        serialization: 'advanced',
        execArgv: [],
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line !== '') options.onStderr?.(line);
      });
      return nodeHandle(child);
    },
  };
}

function nodeHandle(child: ReturnType<typeof fork>): ChildHandle {
  return {
    pid: child.pid,
    send: (message) => {
      // A child that just died: its exit event rejects the call, the failed write says nothing more.
      if (child.connected) child.send(message as object, () => undefined);
    },
    onMessage: (listener) => {
      child.on('message', listener);
    },
    onExit: (listener) => {
      let told = false;
      const tell = (code: number | null, signal: string | null): void => {
        if (told) return;
        told = true;
        listener({ code, signal });
      };
      child.once('exit', tell);
      child.once('error', () => {
        tell(null, null);
      });
    },
    kill: (signal) => {
      child.kill(signal);
    },
  };
}
