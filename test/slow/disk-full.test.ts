/** A real disk of a few megabytes, filled for real: a tmpfs, where this process may mount one. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { validateDataset } from '#core/datasets/index.ts';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { Job } from '#shared/schema/job.ts';
import { openLab } from '#test/helpers/methods.ts';
import { makeEpisode, makeStep, silentLog } from '#test/helpers/store-records.ts';

const mebibyte = 1024 ** 2;

let root: string;
let mounted: string[];
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'daydream-disk-'));
  mounted = [];
});
afterEach(() => {
  for (const folder of mounted) execFileSync('umount', [folder]);
  rmSync(root, { recursive: true, force: true });
});

/** Mounts a disk of this size, or skips the test and says why. */
function smallDisk(skip: (note?: string) => never, size: number): string {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(size)}`, 'daydream-test', root], {
      stdio: 'pipe',
    });
  } catch (error) {
    skip(`no small disk can be mounted here (it needs root and tmpfs): ${(error as Error).message.trim()}`);
  }
  mounted.push(root);
  return root;
}

/** Takes what is free but for `left` bytes, as somebody else's file would. */
function takeSpace(disk: string, left: number): { giveBack(): void } {
  const file = path.join(disk, 'somebody-elses-file');
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(4096, 1);
  let written = 0;
  try {
    for (;;) written += writeSync(descriptor, block);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
  ftruncateSync(descriptor, Math.max(0, written - left));
  closeSync(descriptor);
  return { giveBack: () => rmSync(file) };
}

function open(disk: string): Store {
  return openStore({
    file: path.join(disk, 'daydream.sqlite'),
    clock: { now: () => Date.now() },
    log: silentLog,
  });
}

it('the store loses nothing that it said was stored, opens on the full disk, and goes on when there is room', ({
  skip,
}) => {
  const disk = smallDisk(skip, 8 * mebibyte);
  const other = takeSpace(disk, 5 * mebibyte);
  let store = open(disk);
  const stored: number[] = [];
  // An attempt that is started again: its texts are to be collected at the next opening, for which there is no room either.
  store.episodes.begin(makeEpisode(0, { initialObservation: 'first '.repeat(2000) }));
  store.episodes.begin(makeEpisode(0, { initialObservation: 'again '.repeat(2000) }));
  let thrown: unknown = null;
  for (let step = 0; thrown === null; step += 1) {
    try {
      store.episodes.appendSteps([
        makeStep('episode-0', step, { observation: `${String(step)} `.repeat(4000) }),
      ]);
      stored.push(step);
    } catch (error) {
      thrown = error;
    }
  }
  expect(thrown).toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringMatching(/What was stored before is intact.*Free some space/su) as string,
  });
  expect(stored.length).toBeGreaterThan(100);
  const steps = (): number[] =>
    store.episodes.steps('episode-0' as EpisodeId).map(({ stepIndex }) => stepIndex);
  expect(steps()).toEqual(stored);
  store.close();
  store = open(disk);
  expect(steps()).toEqual(stored);
  expect(store.check()).toBeNull();
  other.giveBack();
  store.episodes.appendSteps([makeStep('episode-0', stored.length, { observation: 'x'.repeat(10_000) })]);
  expect(steps()).toEqual([...stored, stored.length]);
  store.close();
  store = open(disk);
  expect(store.episodes.get('episode-0' as EpisodeId)?.initialObservation).toBe('again '.repeat(2000));
  expect(steps()).toHaveLength(stored.length + 1);
  store.close();
});

const collection = (extra: object = {}) => ({
  kind: 'early-experience',
  environment: { id: 'household-small', tasks: 40 },
  policy: { model: 'none' },
  branching: { sr: { enabled: false } },
  reflection: { enabled: false },
  ...extra,
});

/** The end of a job, or the reason why its end could not even be stored. */
async function outcome(running: Promise<Job>): Promise<{ code: string; message: string }> {
  try {
    const { error, state } = await running;
    return { code: error?.code ?? state, message: error?.message ?? '' };
  } catch (error) {
    return error as { code: string; message: string };
  }
}

it('a collection whose store fills the disk says so, and resumes to the same data when there is room', async ({
  skip,
}) => {
  const whole = openLab();
  const expected = (await whole.run('early-experience', collection())).result as unknown as {
    branching: object;
  };
  const counts = whole.services.store.counts();
  await whole.close();

  const disk = smallDisk(skip, 32 * mebibyte);
  const other = takeSpace(disk, 1.5 * mebibyte);
  const lab = openLab({ folder: disk });
  const { store, jobs } = lab.services;
  try {
    const failed = await outcome(lab.run('early-experience', collection()));
    expect(failed.code).toBe('DISK_FULL');
    expect(failed.message).toMatch(/What was stored before is intact.*Free some space/su);
    const before = store.counts();
    expect(before.episodes).toBeGreaterThan(0);
    expect(before.branches).toBeLessThan(counts.branches);
    other.giveBack();
    const job = await resumed(lab, jobs.wait);
    expect(job.error).toBeNull();
    expect((job.result as unknown as typeof expected).branching).toEqual(expected.branching);
    const { episodes, steps, branches } = counts;
    expect(store.counts()).toMatchObject({ episodes, steps, branches });
  } finally {
    await lab.close();
  }
});

it('an export to a full disk leaves nothing there, keeps the collection, and works when there is room', async ({
  skip,
}) => {
  const disk = smallDisk(skip, 8 * mebibyte);
  const other = takeSpace(disk, 0.5 * mebibyte);
  const folder = path.join(disk, 'set');
  const lab = openLab();
  const { store, jobs } = lab.services;
  try {
    const failed = await outcome(
      lab.run(
        'early-experience',
        collection({ environment: { id: 'household-small', tasks: 10 }, export: { folder } }),
      ),
    );
    expect(failed.code).toBe('DISK_FULL');
    expect(failed.message).toMatch(
      /half-written export was removed.*kept.*free space or choose another folder/su,
    );
    expect(readdirSync(disk)).toEqual(['somebody-elses-file']);
    const before = store.counts();
    expect(before.datasets).toBe(0);
    other.giveBack();
    const job = await resumed(lab, jobs.wait);
    expect(job.error).toBeNull();
    expect(store.counts()).toEqual({ ...before, datasets: 1 });
    expect(await validateDataset(folder)).toEqual({ ok: true, problems: [] });
    expect(readFileSync(path.join(folder, 'expert_sft.jsonl'), 'utf8').length).toBeGreaterThan(0);
  } finally {
    await lab.close();
  }
});

async function resumed(lab: ReturnType<typeof openLab>, wait: (jobId: JobId) => Promise<Job>): Promise<Job> {
  const { jobs, store } = lab.services;
  const [job] = store.jobs
    .list({}, { cursor: null, limit: 10 })
    .items.filter(({ kind }) => kind === 'early-experience');
  if (job === undefined) throw new Error('no job');
  // The end of a job is a write too: where even that had no room, the engine stores it as soon as it can.
  expect(await wait(job.jobId)).toMatchObject({ state: 'failed', error: { code: 'DISK_FULL' } });
  jobs.resume(job.jobId);
  return wait(job.jobId);
}
