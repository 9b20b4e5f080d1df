import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findElectron, whyNoWindow } from '../../scripts/lib/electron-binary.ts';

describe('npm start', () => {
  it.each([
    [{ DISPLAY: ':0' }, 1000, null],
    [{ WAYLAND_DISPLAY: 'wayland-0' }, 1000, null],
    [{}, 1000, 'there is no display'],
    [{ DISPLAY: '' }, 1000, 'there is no display'],
    [{ DISPLAY: ':0' }, 0, "Electron's sandbox does not run as root"],
  ])('knows with %o and user %i whether a window can be shown', (env, uid, why) => {
    expect(whyNoWindow({ platform: 'linux', env, uid })).toBe(why);
  });

  it.each(['darwin', 'win32'] as const)('always shows one on %s', (platform) => {
    expect(whyNoWindow({ platform, env: {}, uid: undefined })).toBeNull();
  });

  it('finds a binary only where there is one', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'daydream-electron-'));
    try {
      expect(findElectron({ ELECTRON_OVERRIDE_DIST_PATH: folder })).toBeNull();
      // The installed package, if its binary was fetched, says under which name.
      for (const name of ['electron', 'electron.exe']) {
        await writeFile(path.join(folder, name), '');
        await chmod(path.join(folder, name), 0o755);
      }
      if (process.platform === 'linux') {
        expect(findElectron({ ELECTRON_OVERRIDE_DIST_PATH: folder })).toBe(path.join(folder, 'electron'));
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
