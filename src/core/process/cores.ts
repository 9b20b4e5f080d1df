/** Physical cores that we may use: ggml's threads spin, so a second thread on one core costs more than it brings. */
import { readFileSync, readdirSync } from 'node:fs';
import { arch, availableParallelism, platform } from 'node:os';

const cpuFolder = '/sys/devices/system/cpu';

export function physicalCores(): number {
  const logical = availableParallelism();
  if (platform() === 'linux') return Math.max(1, Math.min(logical, linuxCores() ?? logical));
  // Apple's chips have no hyper-threads; elsewhere two for each core is the rule.
  return platform() === 'darwin' && arch() === 'arm64' ? logical : Math.max(1, Math.ceil(logical / 2));
}

function linuxCores(): number | null {
  try {
    const groups = readdirSync(cpuFolder)
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => readFileSync(`${cpuFolder}/${name}/topology/thread_siblings_list`, 'utf8').trim());
    return groups.length === 0 ? null : new Set(groups).size;
  } catch {
    return null;
  }
}

/** Threads for training: asked for, or all physical cores but one, so that ggml's barriers never wait for the application. */
export function trainingThreads(requested: number): number {
  return requested > 0 ? requested : Math.max(1, physicalCores() - 1);
}
