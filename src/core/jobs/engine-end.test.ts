import { expect, it } from 'vitest';
import { createJobEngine } from '#core/jobs/index.ts';
import { AppError } from '#shared/errors.ts';
import { clock, engines, puppet, store, submit, timers, useJobEngines } from '#test/helpers/job-engine.ts';
import { settled } from '#test/helpers/manual-timers.ts';
import { silentLog } from '#test/helpers/store-records.ts';

useJobEngines();

it('tells once of an end that cannot be stored, and stores it as soon as it can', async () => {
  let full = true;
  const change: typeof store.queue.change = (jobId, wanted) => {
    if (full && wanted.state === 'succeeded') {
      throw new AppError({ code: 'DISK_FULL', message: 'The disk is full.' });
    }
    return store.queue.change(jobId, wanted);
  };
  const told: unknown[] = [];
  const engine = createJobEngine({
    store: { ...store, queue: { ...store.queue, change } },
    clock,
    log: silentLog,
    slots: { compute: 1, light: 2 },
    owner: 'test',
    onEndNotStored: (job) => told.push(job),
    timers,
  });
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
  full = false;
  timers.advance(5_000);
  await settled();
  expect(store.jobs.get(job.jobId)?.state).toBe('succeeded');
  expect(told).toHaveLength(1);
});
