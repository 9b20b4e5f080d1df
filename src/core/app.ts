/**
 * The composition root: everything is wired here by hand, from what a host gives. Hosts (Electron's main process, `serve`, the
 * commands, tests) differ only in their ports and in how they carry the router; transport is theirs.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { toAppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';
import { createRolloutJob } from '#core/agents/index.ts';
import { DatasetReader } from '#core/datasets/index.ts';
import { createEarlyExperienceJobs } from '#core/early-experience/index.ts';
import { createEnvironmentRegistry } from '#core/environments/index.ts';
import { createJobEngine } from '#core/jobs/index.ts';
import { createModelService } from '#core/llm/index.ts';
import type { ModelService } from '#core/llm/port.ts';
import { createFileLogger } from '#core/log.ts';
import { makeFolder } from '#core/make-folder.ts';
import type { Disposable, HostPorts, Logger } from '#core/ports.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { createSecretFile } from '#core/secrets.ts';
import { OutgoingMeter, PlayDesk, TokenTexts, createRouter } from '#core/rpc/index.ts';
import type { AppRouter } from '#core/rpc/index.ts';
import { starterModelFile } from '#core/resources.ts';
import type { CoreServices } from '#core/services.ts';
import { TrainerClient, createTrainJob } from '#core/training/index.ts';
import { acquireHostLock, createStoreReader, openStore } from '#core/store/index.ts';
import type { ModelStore } from '#core/store/port.ts';

export { defaultDataFolder } from '#core/data-folder.ts';
export { assign, changed, shellWord } from '#core/runs/index.ts';
export { findModel as knownModel } from '#core/llm/index.ts';
export { starterModelFile, starterName } from '#core/resources.ts';
export { readHostAddress } from '#core/store/index.ts';

export interface App extends Disposable {
  /** For the host's transport: MessagePort, WebSocket, or `createRouterClient` in this process. */
  readonly router: AppRouter;
  readonly services: CoreServices;
  /** Begins to run jobs. A host that only looks never calls it, so that looking wakes up nothing. */
  start(): void;
  /** Lets other processes of this user find and attach to this host. */
  publishAddress(address: { port: number; token: string }): void;
}

/** An application without its model still opens; nothing is written when it is listed already, so a full disk is no hindrance. */
async function listStarter(
  file: string,
  { models, stored, log }: { models: ModelService; stored: ModelStore; log: Logger },
): Promise<void> {
  try {
    const known = stored.byLocation(file);
    if (known === null || statSync(file).mtimeMs >= known.addedAt) await models.add(file);
  } catch (error) {
    log.warn({ error: toAppError(error).toRecord() }, 'starter-not-listed');
  }
}

/** Heavy work runs one at a time: two models decoding side by side are slower than one after the other. */
const slots = { compute: 1, light: 2 };

/** @throws AppError HOST_LOCKED, STORE_CORRUPT, STORE_TOO_NEW, DISK_FULL; nothing stays open then */
export async function createApp(ports: HostPorts): Promise<App> {
  const { dataFolder, clock, log, version } = ports;
  makeFolder(dataFolder);
  const opened: (() => void | Promise<void>)[] = [];
  // One that fails keeps no other from closing: the lock is the last, and who holds it keeps every later host out.
  const disposeAll = async () => {
    const failures: unknown[] = [];
    for (const close of opened.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) return;
    throw new AggregateError(
      failures,
      `The rest was closed, this was not: ${failures.map(String).join('; ')}`,
    );
  };
  try {
    const lock = acquireHostLock(dataFolder, clock.now());
    opened.push(() => lock.release());
    const store = openStore({ file: join(dataFolder, 'daydream.db'), clock, log });
    opened.push(() => store.close());
    const reader = createStoreReader({ file: store.file, log });
    opened.push(() => reader.close());
    const environments = createEnvironmentRegistry({ catalogue: store.catalogue, clock });
    const bundled = starterModelFile();
    const models = createModelService({
      models: store.models,
      spawner: ports.spawner,
      clock,
      log,
      threads: () => store.catalogue.settings().threads,
      // Connections are counted at the socket (OutgoingMeter); here it is only told which call made one.
      onOutgoing: () => log.info({}, 'model-server-called'),
      secrets: createSecretFile(join(dataFolder, 'secrets.json')),
      bundled,
    });
    opened.push(() => models.dispose());
    await listStarter(bundled, { models, stored: store.models, log });
    const jobs = createJobEngine({
      store,
      clock,
      log,
      slots,
      owner: ports.kind,
      soleHost: true,
      onEndNotStored: ({ jobId, reason }) =>
        ports.onTrouble?.(
          `Job ${jobId} is over, but its end cannot be stored: ${sentence(reason)} Until it can, the job is listed as running; it is tried again every few seconds.`,
        ),
      onEnded: ({ title, state, activeMs }) => ports.onJobEnded?.({ title, state, activeMs }),
    });
    opened.push(() => jobs.dispose());
    const services: CoreServices = {
      store,
      jobs,
      environments,
      models,
      newTrainer: () => new TrainerClient({ spawner: ports.spawner, clock, log }),
      clock,
      log,
      dataFolder,
      version,
    };
    for (const definition of [
      createRolloutJob(services),
      ...createEarlyExperienceJobs(services),
      createTrainJob(services),
    ]) {
      jobs.register(definition);
    }
    const plays = new PlayDesk(services);
    opened.push(() => plays.dispose());
    const outgoing = new OutgoingMeter();
    opened.push(() => outgoing.dispose());
    const router = createRouter({
      ...services,
      host: ports.kind,
      startedAt: clock.now(),
      plays,
      reader,
      outgoing,
      tokenTexts: new TokenTexts(models),
      datasetRows: new DatasetReader(),
    });
    return {
      router,
      services,
      start: () => jobs.start(),
      publishAddress: (address) => lock.publish(address),
      dispose: disposeAll,
    };
  } catch (thrown) {
    await disposeAll().catch((error: unknown) => log.error({ error: String(error) }, 'dispose-failed'));
    throw thrown;
  }
}

/** Of package.json, which lies at the same place above the sources and above a bundle. */
function applicationVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

/** The ports of a host that is a plain Node process. */
export function nodePorts(options: { kind: HostPorts['kind']; dataFolder: string }): HostPorts {
  makeFolder(options.dataFolder);
  const log = createFileLogger(options.dataFolder);
  return {
    ...options,
    log,
    clock: { now: () => Date.now() },
    spawner: createNodeSpawner({ onStderr: (line) => log.warn({ line }, 'inference-stderr') }),
    version: applicationVersion(),
  };
}
