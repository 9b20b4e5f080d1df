/**
 * How a command reaches the application: it attaches to the host that already owns the data folder, else it becomes the host
 * itself, with the same router. Commands are written once, against `Client`.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRouterClient } from '@orpc/server';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import { createApp, defaultDataFolder, nodePorts, readHostAddress } from '#core/app.ts';
import type { App } from '#core/app.ts';
import { rendererState, serve } from '../serve/index.ts';
import { connect } from './client.ts';
import { guiLink } from './gui-link.ts';
import { say } from './output.ts';

export interface Session {
  readonly client: Client;
  readonly dataFolder: string;
  readonly attached: boolean;
  /** Aborts when the host that we are attached to goes away; never in our own process. */
  readonly lost: AbortSignal;
  /** Link of the GUI where this very process serves one. */
  readonly url: string | null;
  /** Link of a GUI that is served when this command is over; null where it is not. */
  lastingLink(): Promise<string | null>;
  close(): Promise<void>;
}

export interface SessionOptions {
  dataDir?: string | undefined;
  /** Jobs run in this process, and other commands and a browser can attach to it meanwhile. */
  runsJobs?: boolean;
  /** Looks at what is stored: a data folder that was named and is not there is a mistake, and not made. */
  onlyLooks?: boolean;
  /** For one holder of the data folder to answer or to end. */
  waitMs?: number;
}

/**
 * A host that holds the lock without an address is starting, or a command that only looks; both are over soon. Many short
 * commands may have it one after the other: each new holder gets the time anew.
 */
const waitForHostMs = 15_000;
const tellOfWaitAfterMs = 1_000;
const tryHostEveryMs = 100;

/** The folder that somebody named, by option or environment. */
function namedFolder({ dataDir }: { dataDir?: string | undefined }): string | undefined {
  return dataDir ?? process.env['DAYDREAM_DATA'];
}

/** @throws AppError INVALID_INPUT for an empty path, which would mean the current folder */
export function dataFolderOf({ dataDir }: { dataDir?: string | undefined }): string {
  const folder = namedFolder({ dataDir }) ?? defaultDataFolder();
  if (folder.trim() !== '') return resolve(folder);
  const what = dataDir === undefined ? 'DAYDREAM_DATA' : '--data-dir';
  throw new AppError({
    code: 'INVALID_INPUT',
    message: `${what} is empty, so no folder was opened and nothing was written. Name a folder (. is the current one), or leave it out for the default.`,
  });
}

async function attach(dataFolder: string): Promise<Session | null> {
  const address = readHostAddress(dataFolder);
  if (address === null) return null;
  const { client, lost, close } = await connect(address);
  return {
    client,
    dataFolder,
    attached: true,
    lost,
    url: null,
    lastingLink: () => guiLink(address),
    close: () => Promise.resolve(close()),
  };
}

async function becomeHost(dataFolder: string, runsJobs: boolean): Promise<Session> {
  const app: App = await createApp({ ...nodePorts({ kind: 'cli', dataFolder }), onTrouble: say });
  try {
    const renderer = rendererState();
    const files = renderer?.state === 'ready' ? renderer.folder : null;
    const server = runsJobs ? await serve({ app, port: 0, files }) : null;
    if (server !== null) {
      app.publishAddress({ port: server.port, token: server.token });
      app.start();
    }
    return {
      client: createRouterClient(app.router),
      dataFolder,
      attached: false,
      lost: new AbortController().signal,
      url: files === null ? null : (server?.url ?? null),
      lastingLink: () => Promise.resolve(null),
      async close() {
        await server?.close();
        await app.dispose();
      },
    };
  } catch (thrown) {
    await app.dispose();
    throw thrown;
  }
}

/**
 * @throws AppError FILE_NOT_FOUND where it only looks and the folder is not there,
 *   HOST_UNREACHABLE when the host of the folder does not answer, HOST_LOCKED when it has given no address for a while
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const dataFolder = dataFolderOf(options);
  if (options.onlyLooks === true && namedFolder(options) !== undefined && !existsSync(dataFolder)) {
    throw new AppError({
      code: 'FILE_NOT_FOUND',
      message: `The data folder ${dataFolder} does not exist, and was not made. Check the path; what starts something (\`daydream quickstart\`) makes a new one.`,
      data: { folder: dataFolder },
    });
  }
  const startedAt = performance.now();
  let holder = { name: '', at: startedAt };
  let told = false;
  for (;;) {
    let unreachable: unknown = null;
    const attached = await attach(dataFolder).catch((thrown: unknown) => {
      unreachable = thrown;
      return null;
    });
    if (attached !== null) return attached;
    try {
      // An address that does not answer may be left over from a killed host; the lock tells.
      return await becomeHost(dataFolder, options.runsJobs ?? false);
    } catch (thrown) {
      const locked = thrown instanceof AppError && thrown.code === 'HOST_LOCKED';
      if (!locked) throw thrown;
      const now = performance.now();
      const { pid, since } = thrown.data;
      const name = JSON.stringify([pid, since]);
      if (name !== holder.name) holder = { name, at: now };
      if (now - holder.at >= (options.waitMs ?? waitForHostMs)) throw unreachable ?? thrown;
      if (now - startedAt >= tellOfWaitAfterMs && !told) {
        told = true;
        say(waitWords(thrown.data['pid']));
      }
      await sleep(tryHostEveryMs);
    }
  }
}

function waitWords(pid: unknown): string {
  const who = typeof pid === 'number' ? `Daydream (process ${String(pid)})` : 'another Daydream';
  return `Waiting for ${who}, which has this data folder and does not answer yet…`;
}
