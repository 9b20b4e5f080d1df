/** A sign of life on stderr while a bench measures, from a thread of its own: what is measured often holds the main one. */
import { writeSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';

export interface Heartbeat {
  /** What was told last; the next sign of life comes `everyMs` later and repeats it. */
  told(line: string): void;
  stop(): Promise<void>;
}

const dataSchema = z.object({ name: z.string(), everyMs: z.number() });

export function startHeartbeat(name: string, everyMs = 5_000): Heartbeat {
  const worker = new Worker(new URL(import.meta.url), { workerData: { name, everyMs }, execArgv: [] });
  worker.unref();
  return {
    told: (line) => worker.postMessage(line),
    stop: async () => {
      await worker.terminate();
    },
  };
}

function beat({ name, everyMs }: z.infer<typeof dataSchema>): void {
  const startedAt = performance.now();
  let last = '';
  const sign = (): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    writeSync(2, `${name}: measuring for ${String(seconds)} s${last === '' ? '' : ` (last: ${last})`}\n`);
  };
  let timer = setInterval(sign, everyMs);
  parentPort?.on('message', (line: unknown) => {
    last = String(line).trim();
    clearInterval(timer);
    timer = setInterval(sign, everyMs);
  });
}

if (!isMainThread) {
  const data = dataSchema.safeParse(workerData);
  if (data.success) beat(data.data);
}
