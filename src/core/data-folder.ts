/** Where a person's Daydream lives when nothing else is said: the same place for the window, `serve` and the commands. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function defaultDataFolder(
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): string {
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Daydream');
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'Daydream');
  // The XDG specification: a relative path is to be ignored.
  const xdg = env['XDG_DATA_HOME'];
  return join(xdg?.startsWith('/') === true ? xdg : join(homedir(), '.local', 'share'), 'daydream');
}
