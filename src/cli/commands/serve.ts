import { once } from 'node:events';
import type { Command } from 'commander';
import { createApp, nodePorts, readHostAddress } from '#core/app.ts';
import { AppError } from '#shared/errors.ts';
import { ensureRenderer, serve } from '../../serve/index.ts';
import { globalOptions } from '../command.ts';
import { printResult, say } from '../output.ts';
import { port as parsePort } from '../parse.ts';
import { dataFolderOf } from '../session.ts';

interface ServeOptions {
  port: number;
  gui: boolean;
}

/** Names the host that is already there: its link is what the user wants. */
function explainLock(thrown: unknown, dataFolder: string): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'HOST_LOCKED') return thrown;
  const address = readHostAddress(dataFolder);
  if (address === null) return thrown;
  const link = `http://127.0.0.1:${String(address.port)}/#token=${address.token}`;
  return new AppError({ code: 'HOST_LOCKED', message: `${thrown.message} It serves ${link}`, cause: thrown });
}

async function run({ port, gui }: ServeOptions, command: Command): Promise<void> {
  const { json, dataDir } = globalOptions(command);
  const dataFolder = dataFolderOf({ dataDir });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const app = await createApp(nodePorts({ kind: 'serve', dataFolder })).catch((thrown: unknown) => {
    throw explainLock(thrown, dataFolder);
  });
  try {
    const files = gui ? await ensureRenderer(say) : null;
    const server = await serve({ app, port, files });
    try {
      app.publishAddress({ port: server.port, token: server.token });
      app.start();
      printResult(
        json,
        { url: server.url, port: server.port, dataFolder, pid: process.pid },
        () => `Daydream is at ${server.url}`,
      );
      say(`Data folder: ${dataFolder}. Ctrl-C stops the host; running jobs go on at the next start.`);
      if (!stop.signal.aborted) await once(stop.signal, 'abort');
      say('Stopping…');
    } finally {
      await server.close();
    }
  } finally {
    await app.dispose();
  }
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('the application in a browser tab, on this machine only')
    .option('--port <port>', 'on 127.0.0.1 (default: any free one)', parsePort, 0)
    .option('--no-gui', 'RPC only, for other commands and scripts')
    .addHelpText(
      'after',
      `
The printed link holds a token; without it nobody on this machine can connect. The GUI is built on first use.

Examples:
  daydream serve
  daydream serve --port 4000 --data-dir ./experiment-1
`,
    )
    .action(run);
}
