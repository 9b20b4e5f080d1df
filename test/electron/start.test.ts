import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findElectron, whyNoWindow } from '../../scripts/lib/electron-binary.ts';
import { findRunningGui } from '../../scripts/lib/running-host.ts';

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

  it('leads to the host that already serves the data folder, and starts none beside it', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'daydream-start-'));
    let status = 200;
    const server = createServer((_request, response) => response.writeHead(status).end()).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    try {
      expect(await findRunningGui(folder)).toBeNull();
      const { port } = server.address() as AddressInfo;
      await writeFile(path.join(folder, 'host.json'), JSON.stringify({ pid: 7, port, token: 'abc' }));
      const link = `http://127.0.0.1:${String(port)}/#token=abc`;
      const { DISPLAY: _, WAYLAND_DISPLAY: __, ...env } = process.env;
      if (process.platform === 'linux') {
        const started = await promisify(execFile)(
          process.execPath,
          ['scripts/start.ts', '--data-dir', folder],
          { env },
        );
        expect(started.stdout).toContain(`Daydream is at ${link}`);
      }
      expect(await findRunningGui(folder)).toEqual({ pid: 7, link });
      status = 404;
      expect(await findRunningGui(folder)).toBeNull();
    } finally {
      server.close();
      await once(server, 'close');
    }
    expect(await findRunningGui(folder)).toBeNull();
    await rm(folder, { recursive: true, force: true });
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
