import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('gives a sign of life while the main thread is held, with what was told last', () => {
  const module = new URL('./heartbeat.ts', import.meta.url).href;
  const script = `
    const { startHeartbeat } = await import(${JSON.stringify(module)});
    const heart = startHeartbeat('store', 300);
    heart.told('10 % made');
    await new Promise((resolve) => setTimeout(resolve, 100));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    await heart.stop();`;
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^store: measuring for \d+ s \(last: 10 % made\)$/m);
});
