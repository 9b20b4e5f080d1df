/** A whole application on a temporary folder: real SQLite, real environments, real job engine; no window, no network. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { createApp, nodePorts } from '#core/app.ts';
import type { App } from '#core/app.ts';
import type { HostPorts } from '#core/ports.ts';
import type { Client } from '#shared/contract/index.ts';

export interface TestApp {
  app: App;
  client: Client;
  folder: string;
  dispose(): Promise<void>;
}

export async function openTestApp(overrides: Partial<HostPorts> = {}): Promise<TestApp> {
  const folder = await mkdtemp(join(tmpdir(), 'daydream-app-'));
  const app = await createApp({ ...nodePorts({ kind: 'cli', dataFolder: folder }), ...overrides });
  return {
    app,
    folder,
    client: createRouterClient(app.router),
    async dispose() {
      await app.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
