import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const entry = new URL('../../src/cli/main.ts', import.meta.url).pathname;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daydream-kill-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** `closed` is listened for from the start: a command that ends before it is killed must not be waited for for ever. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [entry, '--data-dir', folder, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.resume();
  return { child, closed: once(child, 'close') };
}

async function kill({ child, closed }: ReturnType<typeof start>): Promise<void> {
  child.kill('SIGKILL');
  await closed;
}

async function json(args: readonly string[]): Promise<unknown> {
  const { child, closed } = start(['--json', ...args]);
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  await closed;
  return JSON.parse(stdout);
}

/** What was cut is listed too, as abandoned. */
const finished = ['episodes', '--status', 'finished', '--limit', '1'];

/** Some seconds of work on a fast machine, so that each kill meets a job that runs. */
const tasks = 1500;

it('loses no finished episode and stores none twice when its host is killed again and again', async () => {
  const first = start([
    'rollout',
    '--model',
    'scripted:random',
    '--tasks',
    String(tasks),
    '--environment',
    'household',
    '--parallel',
    '4',
  ]);
  let stderr = '';
  const acting = Promise.withResolvers<void>();
  first.child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    if (/ [1-9][\d,]*\/[\d,]+ episodes/.test(stderr)) acting.resolve();
  });
  await Promise.race([acting.promise, first.closed]);
  expect(first.child.exitCode, stderr).toBeNull();
  await kill(first);
  const [job] = (await json(['jobs'])) as { jobId: string; state: string }[];
  if (job === undefined) throw new Error('no job');
  for (let kills = 0; kills < 3; kills += 1) {
    const before = (await json(finished)) as { total: number };
    const again = start(['jobs', 'resume', job.jobId]);
    await new Promise((resolve) => setTimeout(resolve, 1_500 + kills * 200));
    await kill(again);
    const after = (await json(finished)) as { total: number };
    expect(after.total).toBeGreaterThanOrEqual(before.total);
  }
  const { job: killed } = (await json(['jobs', 'show', job.jobId])) as { job: { state: string } };
  if (killed.state !== 'succeeded') await json(['jobs', 'resume', job.jobId]);
  const shown = (await json(['jobs', 'show', job.jobId])) as {
    job: { state: string; result: { episodes: number } };
  };
  expect(shown.job).toMatchObject({ state: 'succeeded', result: { episodes: tasks } });
  const { total } = (await json(finished)) as { total: number };
  expect(total).toBe(tasks);
});
