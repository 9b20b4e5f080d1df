import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync, existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { acquireHostLock, readHostAddress } from '#core/store/index.ts';
import { temporaryFolder } from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  temporary = temporaryFolder();
});
afterEach(() => {
  temporary.remove();
});

/** A process that takes the lock, says so, and waits to be killed. */
async function holder(folder: string): Promise<ReturnType<typeof spawn>> {
  const script = `
    const { acquireHostLock } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    const lock = acquireHostLock(${JSON.stringify(folder)});
    lock.publish({ port: 4321, token: 'secret' });
    console.log('locked');
    setInterval(() => lock.folder, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../../../', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

describe('the host lock', () => {
  it('lets one host in and is free again after its release', () => {
    const lock = acquireHostLock(temporary.folder);
    expect(() => acquireHostLock(temporary.folder)).toThrow(expect.objectContaining({ code: 'HOST_LOCKED' }));
    lock.release();
    lock.release();
    acquireHostLock(temporary.folder).release();
    expect(readHostAddress(temporary.folder)).toBeNull();
  });

  it('names the process that holds it and where to attach, and is freed by SIGKILL', async () => {
    const child = await holder(temporary.folder);
    try {
      expect(readHostAddress(temporary.folder)).toEqual({ port: 4321, token: 'secret', pid: child.pid });
      expect(() => acquireHostLock(temporary.folder)).toThrow(
        expect.objectContaining({
          code: 'HOST_LOCKED',
          data: { folder: temporary.folder, pid: child.pid, port: 4321, since: expect.any(Number) as number },
        }),
      );
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const lock = acquireHostLock(temporary.folder);
    expect(readHostAddress(temporary.folder)).toBeNull();
    lock.release();
  });

  it('says of a host without an address that it is starting, and since when', () => {
    const startedAt = 1_000_000;
    const lock = acquireHostLock(temporary.folder, startedAt);
    const refused = (afterMs: number) => {
      try {
        acquireHostLock(temporary.folder, startedAt + afterMs);
      } catch (thrown) {
        return (thrown as Error).message;
      }
      return 'it was let in';
    };
    expect(refused(500)).toContain('does not listen yet, it came just now: it is starting, or');
    expect(refused(12_500)).toContain('does not listen yet, after 12 seconds: it is starting, or');
    expect(refused(180_000)).toContain('after 3 minutes');
    expect(refused(-5_000)).toContain('does not listen yet: it is starting');
    lock.publish({ port: 4321, token: 'secret' });
    expect(refused(500)).toContain('Commands attach to it by themselves');
    lock.release();
  });

  it('takes a lock file that holds something else', () => {
    writeFileSync(`${temporary.folder}/host.lock`, 'not a database '.repeat(100));
    acquireHostLock(temporary.folder).release();
  });

  it.skipIf(process.platform === 'win32')('hides the token from other users', () => {
    const lock = acquireHostLock(temporary.folder);
    lock.publish({ port: 1, token: 'secret' });
    expect(statSync(`${temporary.folder}/host.json`).mode & 0o777).toBe(0o600);
    lock.release();
    expect(existsSync(`${temporary.folder}/host.json`)).toBe(false);
  });

  it('reads any damaged host.json as no address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        writeFileSync(`${temporary.folder}/host.json`, text);
        expect(readHostAddress(temporary.folder)).toBeNull();
      }),
    );
  });
});
