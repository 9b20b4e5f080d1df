/** Whether Daydream already serves its GUI on a data folder, so that `npm start` leads there instead of failing on the lock. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** `host.json`, which the host writes beside its lock (src/core/store/host-lock.ts). */
const holderSchema = z.object({ pid: z.int(), port: z.int(), token: z.string() });

const answersWithinMs = 3_000;
/** What `serve` answers until its GUI is built; the browser asks again by itself. */
const stillBuilding = 503;

/** @returns null where no host answers, or the one that does shows no GUI: a killed host leaves its file behind */
export async function findRunningGui(dataFolder: string): Promise<{ pid: number; link: string } | null> {
  const holder = readHolder(path.join(dataFolder, 'host.json'));
  if (holder === null) return null;
  const url = `http://127.0.0.1:${String(holder.port)}/`;
  const shows = await fetch(url, { signal: AbortSignal.timeout(answersWithinMs) }).then(
    ({ ok, status }) => ok || status === stillBuilding,
    () => false,
  );
  return shows ? { pid: holder.pid, link: `${url}#token=${holder.token}` } : null;
}

function readHolder(file: string): z.infer<typeof holderSchema> | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Not there, not listening yet, or half-written: as good as no host.
    return null;
  }
}
