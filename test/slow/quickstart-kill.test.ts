/** A killed quickstart goes on when it is asked for again: one job, nothing collected twice. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

const entry = new URL('../../src/cli/main.ts', import.meta.url).pathname;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'daydream-quickstart-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function quickstart(...more: string[]): { child: ChildProcess; text: { stdout: string; stderr: string } } {
  const child = spawn(
    process.execPath,
    [entry, '--data-dir', folder, ...more, 'quickstart', '--tasks', '12'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (text.stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (text.stderr += String(chunk)));
  return { child, text };
}

const resultSchema = z.object({
  rollout: z.null(),
  workedMs: z.number().positive(),
  job: z.object({ jobId: z.string(), attempt: z.int(), activeMs: z.number() }),
  dataset: z.object({ jobId: z.string() }),
});

test('it says so, and one run of the collection is all there is', async () => {
  const first = quickstart();
  // Killed at the first branched states, not after a time: a fast machine has done the whole collection in two seconds.
  await expect
    .poll(() => first.text.stderr, { timeout: 90_000, interval: 5 })
    .toMatch(/Branching {2}[1-9]\d*\//);
  expect(first.child.exitCode, 'the first quickstart is at work when it is killed').toBeNull();
  const killed = once(first.child, 'close');
  first.child.kill('SIGKILL');
  await killed;

  const second = quickstart('--json');
  const [code] = (await once(second.child, 'close')) as [number | null];
  expect(second.text.stderr).toContain('An unfinished run of the same quickstart is here');
  expect(code).toBe(0);
  const { job, dataset, workedMs } = resultSchema.parse(JSON.parse(second.text.stdout));
  expect(job.attempt).toBeGreaterThan(1);
  expect(workedMs).toBe(job.activeMs);
  expect(dataset.jobId).toBe(job.jobId);

  const list = spawn(process.execPath, [entry, '--data-dir', folder, '--json', 'jobs', 'list']);
  let text = '';
  list.stdout.on('data', (chunk) => (text += String(chunk)));
  await once(list, 'close');
  const jobs = z.array(z.object({ kind: z.string(), state: z.string() })).parse(JSON.parse(text));
  expect(jobs.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
}, 240_000);
