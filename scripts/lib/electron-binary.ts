/** Where Electron's binary is, and whether a window can be shown here. It comes on first use, never at install (ADR 0001). */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const project = path.resolve(import.meta.dirname, '../..');
const electronPackage = path.join(project, 'node_modules', 'electron');

/** null when it was not fetched yet. */
export function findElectron(env: NodeJS.ProcessEnv = process.env): string | null {
  const pathFile = path.join(electronPackage, 'path.txt');
  const relative = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : 'electron';
  const folder = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? path.join(electronPackage, 'dist');
  const file = path.join(folder, relative);
  return existsSync(file) ? file : null;
}

/** Why no window can be shown here; null when it can. */
export function whyNoWindow(
  { platform, env, uid }: { platform: NodeJS.Platform; env: NodeJS.ProcessEnv; uid: number | undefined } = {
    platform: process.platform,
    env: process.env,
    uid: process.getuid?.(),
  },
): string | null {
  if (platform !== 'linux') return null;
  if (!env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return 'there is no display';
  if (uid === 0) return "Electron's sandbox does not run as root";
  return null;
}

/** Electron's own installer, with its progress. @returns the binary, or null when it could not be fetched */
export function fetchElectron(): string | null {
  const installer = path.join(electronPackage, 'install.js');
  if (!existsSync(installer)) return null;
  // Its stack trace says less than the one line that follows.
  const { status } = spawnSync(process.execPath, [installer], { stdio: ['ignore', 'inherit', 'ignore'] });
  return status === 0 ? findElectron() : null;
}
