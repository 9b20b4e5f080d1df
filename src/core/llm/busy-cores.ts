/** How much of the machine others use: a measurement that shares its cores says little about a quiet machine. */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

interface CoreTimes {
  times: { user: number; nice: number; sys: number; idle: number; irq: number };
}

const lookMs = 400;

/** Logical cores that were busy between two readings of `os.cpus()`, as a mean over the time; 0 where the system tells nothing. */
export function busyBetween(before: readonly CoreTimes[], after: readonly CoreTimes[]): number {
  let busy = 0;
  for (const [index, { times: then }] of before.entries()) {
    const now = after[index]?.times;
    if (now === undefined) continue;
    const worked = now.user - then.user + now.nice - then.nice + now.sys - then.sys + now.irq - then.irq;
    const total = worked + now.idle - then.idle;
    if (total > 0) busy += Math.max(0, worked) / total;
  }
  return Number(busy.toFixed(2));
}

/** Looks for 0.4 s, in which the caller should do nothing itself. */
export async function busyCores(signal: AbortSignal): Promise<number> {
  const before = cpus();
  await sleep(lookMs, undefined, { signal });
  return busyBetween(before, cpus());
}
