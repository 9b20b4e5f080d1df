import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHostAddress } from '#core/app.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daydream-launcher-'));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

/** As an older Node would start it: the launcher, and Node 24 as its child. */
function launch(script: string, args: readonly string[], data: string) {
  const { DISPLAY: _, WAYLAND_DISPLAY: __, ...env } = process.env;
  const launcher = spawn(
    process.execPath,
    ['bin/use-node.js', 'node', script, ...args, '--data-dir', join(folder, data)],
    { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], env },
  );
  const said = { text: '' };
  for (const stream of [launcher.stdout, launcher.stderr])
    stream.on('data', (chunk) => (said.text += String(chunk)));
  return { launcher, said, closed: once(launcher, 'close') };
}

async function until(holds: () => boolean, what: () => string, withinMs = 30_000): Promise<void> {
  const startedAt = performance.now();
  while (!holds()) {
    if (performance.now() - startedAt > withinMs) throw new Error(what());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The first job of a data folder on which no host runs. */
async function job(data: string): Promise<unknown> {
  const { launcher, said, closed } = launch('src/cli/main.ts', ['jobs', '--json'], data);
  await closed;
  expect(launcher.exitCode, said.text).toBe(0);
  return (JSON.parse(said.text) as unknown[])[0];
}

const longRollout = [
  ...['rollout', '--model', 'scripted:random', '--environment', 'household'],
  ...['--tasks', '2000', '--parallel', '2'],
];
const acts = /[1-9][\d,]*\/2,000 episodes/;

describe('a command under the launcher', () => {
  it('ends by itself when it is done', async () => {
    const { launcher, said, closed } = launch('src/cli/main.ts', ['presets'], 'short');
    await closed;
    expect(launcher.exitCode, said.text).toBe(0);
  });

  it.each([
    ['serve', 'src/cli/main.ts', ['serve', '--no-gui']],
    ['npm start', 'scripts/start.ts', ['--no-gui']],
  ])('%s puts its host down when the launcher is killed', async (name, script, args) => {
    const data = name.replace(' ', '-');
    const { launcher, said, closed } = launch(script, args, data);
    await until(
      () => said.text.includes('Daydream is at'),
      () => said.text,
    );
    const pid = readHostAddress(join(folder, data))?.pid ?? 0;
    expect(lives(pid)).toBe(true);
    expect(pid).not.toBe(launcher.pid);
    launcher.kill('SIGKILL');
    await closed;
    await until(
      () => !lives(pid),
      () => `process ${String(pid)} outlives its launcher: ${said.text}`,
    );
    // In order, not by a crash.
    expect(existsSync(join(folder, data, 'host.json'))).toBe(false);
    expect(said.text).toContain('Stopping…');
  });

  it('pauses its job when the launcher is killed', async () => {
    const { launcher, said, closed } = launch('src/cli/main.ts', longRollout, 'killed');
    await until(
      () => acts.test(said.text),
      () => said.text,
    );
    const pid = readHostAddress(join(folder, 'killed'))?.pid ?? 0;
    launcher.kill('SIGKILL');
    await closed;
    await until(
      () => !lives(pid),
      () => `process ${String(pid)} outlives its launcher`,
    );
    expect(await job('killed')).toMatchObject({ state: 'paused', attempt: 1 });
  }, 60_000);
});

it('a killed host takes its inference and its trainer with it', async () => {
  const script = `
    const { createNodeSpawner } = await import('#core/process/index.ts');
    const spawner = createNodeSpawner();
    for (const entry of ['inference', 'trainer']) {
      const child = spawner.spawn(entry, {});
      child.onMessage((message) => { if (message.kind === 'ready') console.log('pid=' + child.pid + ';'); });
    }`;
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  host.stdout.on('data', (chunk) => (text += String(chunk)));
  const pids = () => [...text.matchAll(/pid=(\d+);/gu)].map(([, pid]) => Number(pid));
  await until(
    () => pids().length === 2,
    () => text,
  );
  host.kill('SIGKILL');
  await until(
    () => !pids().some(lives),
    () => `of ${String(pids())} some live on`,
    5_000,
  );
}, 60_000);
