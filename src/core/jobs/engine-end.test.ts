import { expect, it } from 'vitest';
import { createJobEngine } from '#core/jobs/index.ts';
import { AppError } from '#shared/errors.ts';
import { clock, engines, puppet, store, submit, timers, useJobEngines } from '#test/helpers/job-engine.ts';
import { settled } from '#test/helpers/manual-timers.ts';
import { silentLog } from '#test/helpers/store-records.ts';

useJobEngines();

/** An engine whose store has no room for a success while the disk is full. */
function engineOn(disk: { isFull: boolean }, onEndNotStored: (job: unknown) => void) {
  const change: typeof store.queue.change = (jobId, wanted) => {
    if (disk.isFull && wanted.state === 'succeeded') {
      throw new AppError({ code: 'DISK_FULL', message: 'The disk is full.' });
    }
    return store.queue.change(jobId, wanted);
  };
  return createJobEngine({
    store: { ...store, queue: { ...store.queue, change } },
    clock,
    log: silentLog,
    slots: { compute: 1, light: 2 },
    owner: 'test',
    onEndNotStored,
    timers,
  });
}

it('tells once of an end that cannot be stored, and stores it as soon as it can', async () => {
  const disk = { isFull: true };
  const told: unknown[] = [];
  const engine = engineOn(disk, (job) => told.push(job));
  engines.push(engine);
  const doll = puppet();
  engine.register(doll.definition);
  engine.start();
  const job = submit(engine);
  await settled();
  await doll.do(() => 'done');
  timers.advance(11_000);
  await settled();
  expect(told).toEqual([{ jobId: job.jobId, reason: 'The disk is full.' }]);
  expect(store.jobs.get(job.jobId)?.state).toBe('running');
  disk.isFull = false;
  timers.advance(5_000);
  await settled();
  expect(store.jobs.get(job.jobId)?.state).toBe('succeeded');
  expect(told).toHaveLength(1);
});

it('closes without waiting for an end that finds no room', async () => {
  const engine = engineOn({ isFull: true }, () => undefined);
  const doll = puppet();
  engine.register(doll.definition);
  engine.start();
  submit(engine);
  await settled();
  await doll.do(() => 'done');
  await settled();
  // No timer moves here: what waited for one would never close.
  await expect(engine.dispose()).resolves.toBeUndefined();
});
