/** Whether Daydream already serves its GUI on a data folder, so that `npm start` leads there instead of failing on the lock. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { guiLink } from '../../src/cli/gui-link.ts';

/** `host.json`, which the host writes beside its lock (src/core/store/host-lock.ts). */
const holderSchema = z.object({ pid: z.int(), port: z.int(), token: z.string() });

/** @returns null where no host answers, or the one that does shows no GUI: a killed host leaves its file behind */
export async function findRunningGui(dataFolder: string): Promise<{ pid: number; link: string } | null> {
  const holder = readHolder(path.join(dataFolder, 'host.json'));
  if (holder === null) return null;
  const link = await guiLink(holder);
  return link === null ? null : { pid: holder.pid, link };
}

function readHolder(file: string): z.infer<typeof holderSchema> | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Not there, not listening yet, or half-written: as good as no host.
    return null;
  }
}
