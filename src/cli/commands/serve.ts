import { once } from 'node:events';
import type { Command } from 'commander';
import { createApp, nodePorts, readHostAddress } from '#core/app.ts';
import { AppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';
import { ensureRenderer, serve } from '../../serve/index.ts';
import { globalOptions, stopSignals } from '../command.ts';
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
  return new AppError({
    code: 'HOST_LOCKED',
    message: `${sentence(thrown.message)} It serves ${link}`,
    cause: thrown,
  });
}

async function run(options: ServeOptions, command: Command): Promise<void> {
  const { json, dataDir } = globalOptions(command);
  const dataFolder = dataFolderOf({ dataDir });
  const stop = new AbortController();
  const stopped = once(stop.signal, 'abort');
  for (const signal of stopSignals) process.once(signal, () => stop.abort());
  const app = await createApp({ ...nodePorts({ kind: 'serve', dataFolder }), onTrouble: say }).catch(
    (thrown: unknown) => {
      throw explainLock(thrown, dataFolder);
    },
  );
  try {
    const gui = Promise.withResolvers<string>();
    const server = await serve({ app, port: options.port, files: options.gui ? gui.promise : null });
    try {
      // Commands attach, and jobs go on, while the GUI is built.
      app.publishAddress({ port: server.port, token: server.token });
      app.start();
      if (options.gui) {
        ensureRenderer(say).then(gui.resolve, gui.reject);
        await Promise.race([gui.promise, stopped]);
        if (stop.signal.aborted) return;
      }
      printResult(
        json,
        { url: server.url, port: server.port, dataFolder, pid: process.pid },
        () => `Daydream is at ${server.url}`,
      );
      say(`Data folder: ${dataFolder}. Ctrl-C stops the host; running jobs go on at the next start.`);
      await stopped;
    } finally {
      say('Stopping…');
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
