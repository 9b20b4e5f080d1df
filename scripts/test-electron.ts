/** `npm run test:electron`: drives the real window with Playwright wherever there is a binary and a display. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { findElectron, project, whyNoWindow } from './lib/electron-binary.ts';

const why = findElectron() === null ? 'no Electron binary' : whyNoWindow();
if (why !== null) {
  console.log(`skipped: ${why}`);
} else {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [path.join(project, 'bin/use-node.js'), ...args], {
      cwd: project,
      stdio: 'inherit',
    });
  const built = run('electron-vite', 'build', '--logLevel', 'warn');
  const tested =
    built.status === 0
      ? run('playwright', 'test', '--config', 'test/electron/playwright.config.ts', ...process.argv.slice(2))
      : built;
  process.exitCode = tested.status ?? 1;
}
