import { stat, statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import type { SystemStatus } from '#shared/schema/system.ts';
import type { RpcServices } from '#core/rpc/base.ts';

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Of the database with its write-ahead log. */
async function storeBytes(file: string): Promise<number> {
  const sizes = await Promise.all([file, `${file}-wal`, `${file}-shm`].map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export async function freeDiskBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export async function systemStatus(app: RpcServices): Promise<SystemStatus> {
  const { realEnvironmentSteps, ...counts } = await app.reader.counts();
  return {
    version: app.version,
    node: process.versions.node,
    host: app.host,
    dataFolder: app.dataFolder,
    startedAt: app.startedAt,
    storeBytes: await storeBytes(app.store.file),
    freeDiskBytes: await freeDiskBytes(app.dataFolder),
    cores: availableParallelism(),
    totalMemoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    realEnvironmentSteps,
    counts,
    outgoingConnections: app.outgoing.count,
    inference: app.models.status(),
  };
}
