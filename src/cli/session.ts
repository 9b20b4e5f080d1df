/**
 * How a command reaches the application: it attaches to the host that already owns the data folder, else it becomes the host
 * itself, with the same router. Commands are written once, against `Client`.
 */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRouterClient } from '@orpc/server';
import type { Client } from '#shared/contract/index.ts';
import { AppError } from '#shared/errors.ts';
import { createApp, defaultDataFolder, nodePorts, readHostAddress } from '#core/app.ts';
import type { App } from '#core/app.ts';
import { rendererState, serve } from '../serve/index.ts';
import { connect } from './client.ts';

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
}

/** A host that holds the lock writes its address within moments. */
const addressWithinMs = 3_000;

export function dataFolderOf({ dataDir }: { dataDir?: string | undefined }): string {
  return resolve(dataDir ?? process.env['DAYDREAM_DATA'] ?? defaultDataFolder());
}

/** A host may serve RPC only; its link would show nothing. */
export async function guiLink({ port, token }: { port: number; token: string }): Promise<string | null> {
  const url = `http://127.0.0.1:${String(port)}/`;
  const shows = await fetch(url, { signal: AbortSignal.timeout(addressWithinMs) }).then(
    ({ ok }) => ok,
    () => false,
  );
  return shows ? `${url}#token=${token}` : null;
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

/** Another process is the host but has no address yet: it is starting, or it serves none. */
async function attachSoon(dataFolder: string, locked: AppError): Promise<Session> {
  for (let waited = 0; waited < addressWithinMs; waited += 100) {
    await sleep(100);
    const session = await attach(dataFolder).catch(() => null);
    if (session !== null) return session;
  }
  throw locked;
}

async function becomeHost(dataFolder: string, runsJobs: boolean): Promise<Session> {
  const app: App = await createApp(nodePorts({ kind: 'cli', dataFolder }));
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

/** @throws AppError HOST_LOCKED when another process owns the folder and cannot be reached */
export async function openSession(options: SessionOptions): Promise<Session> {
  const dataFolder = dataFolderOf(options);
  // An address that does not answer may be left over from a killed host; the lock tells.
  const attached = await attach(dataFolder).catch(() => null);
  if (attached !== null) return attached;
  try {
    return await becomeHost(dataFolder, options.runsJobs ?? false);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'HOST_LOCKED') return attachSoon(dataFolder, thrown);
    throw thrown;
  }
}
