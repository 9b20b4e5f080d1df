#!/usr/bin/env node
/**
 * `node bin/use-node.js COMMAND …` runs COMMAND with the Node 24 that `npm ci` brought first in PATH; plain JavaScript for
 * any Node >= 20.19. It looks for the platform package itself and does not trust node_modules/.bin/node: npm 10 deletes that
 * link again while it skips the same-named binaries of the other platforms (docs/adr/0001-node-from-npm.md).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const needed = 24;
const executable = process.platform === 'win32' ? 'node.exe' : 'node';

/** The newest Node at hand: a file, or null when there is none from 24 on. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= needed) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const candidates = [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`].map(
    (name) => path.join(root, 'node_modules', name, 'bin', executable),
  );
  return candidates.find((file) => existsSync(file)) ?? null;
}

/**
 * Runs a child in the foreground and ends as it ends. One that listens (src/cli/end-with-launcher.ts) also ends as we end: the channel
 * carries no message, but its closing is noticed even where we were killed.
 */
export function runInForeground(command, args, { env = process.env, listens = false } = {}) {
  const child = spawn(command, args, {
    stdio: listens ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    env,
    shell: process.platform === 'win32' && !path.isAbsolute(command),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(
      `cannot start ${command}: ${error.message}. Run \`npm ci\` in the project folder.\n`,
    );
    process.exit(127);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

export function explainMissingNode() {
  process.stderr.write(
    `Daydream needs Node ${needed} (this is ${process.versions.node}) and did not find the one that \`npm ci\` installs for ${process.platform}-${process.arch}. Run \`npm ci\` in the project folder, or install Node ${needed}.\n`,
  );
  process.exit(1);
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [command, ...args] = process.argv.slice(2);
  const node = findNode();
  if (command === undefined) {
    process.stderr.write('usage: node bin/use-node.js COMMAND [ARGUMENT …]\n');
    process.exit(2);
  } else if (node === null) {
    explainMissingNode();
  } else {
    const searchPath = [path.dirname(node), path.join(root, 'node_modules', '.bin'), process.env.PATH ?? ''];
    const env = { ...process.env, PATH: searchPath.join(path.delimiter) };
    const listens = command === 'node';
    runInForeground(listens ? node : command, args, { env, listens });
  }
}
