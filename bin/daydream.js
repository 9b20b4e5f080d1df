#!/usr/bin/env node
// Plain JavaScript for any Node >= 20.19: re-executes itself with the Node 24 that npm installed, which runs TypeScript
// directly and can load the native modules.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const bundled = fileURLToPath(
  new URL(
    process.platform === 'win32' ? '../node_modules/.bin/node.exe' : '../node_modules/.bin/node',
    import.meta.url,
  ),
);
const major = Number(process.versions.node.split('.')[0]);

if (major >= 24) {
  await import(entry);
} else if (existsSync(bundled)) {
  const child = spawn(bundled, [entry, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
} else {
  process.stderr.write(
    `daydream needs Node 24 (this is ${process.versions.node}) and did not find the one that \`npm ci\` installs. Run \`npm ci\` in the project folder.\n`,
  );
  process.exit(1);
}
