import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineJob } from '#core/jobs/port.ts';
import type { JobDefinition } from '#core/jobs/port.ts';
import { AppError } from '#shared/errors.ts';
import type { Job } from '#shared/schema/job.ts';
import {
  endedRoots,
  makeEngine,
  puppet,
  replaceTimers,
  started,
  store,
  submit,
  useJobEngines,
} from '#test/helpers/job-engine.ts';
import { settled } from '#test/helpers/manual-timers.ts';

useJobEngines();

describe('a pipeline', () => {
  function pipeline(slots: readonly 'compute'[] = []) {
    const runs: number[] = [];
    const definition = defineJob({
      kind: 'pipeline',
      spec: z.unknown(),
      slots,
      async run(context) {
        runs.push(context.attempt);
        const one = await context.runChild<string>({
          stage: 'one',
          kind: 'puppet',
          title: 'One',
          spec: { a: 1 },
        });
        const two = await context.runChild<string>({
          stage: 'two',
          kind: 'puppet',
          title: 'Two',
          spec: {},
          seed: 99,
        });
        return [one.result, two.result];
      },
    });
    return { definition: definition as unknown as JobDefinition<never, never>, runs };
  }
  const children = (job: Job) => store.jobs.children(job.jobId).map((child) => [child.stage, child.state]);

  it.each([[[]], [['compute']]] as const)('runs its stages one after the other (slots %j)', async (slots) => {
    const doll = puppet();
    const engine = started([pipeline(slots as never).definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    expect(children(job)).toEqual([['one', 'running']]);
    expect(doll.contexts[0]).toMatchObject({ spec: { a: 1 }, seed: 7 });
    await doll.do(() => 'first');
    await settled();
    expect(doll.contexts[1]?.seed).toBe(99);
    await doll.do(() => 'second');
    expect((await engine.wait(job.jobId)).result).toEqual(['first', 'second']);
    expect(endedRoots.map((root) => root.kind)).toEqual(['pipeline']);
  });

  it('pauses with its stage and finds it again', async () => {
    const doll = puppet();
    const { definition, runs } = pipeline();
    const engine = started([definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await doll.do(() => 'first');
    await settled();
    engine.pause(job.jobId);
    await doll.do((context) => {
      context.commitStep(1);
      context.pausePoint();
    });
    expect((await engine.wait(job.jobId, { orPaused: true })).state).toBe('paused');
    expect(children(job)).toEqual([
      ['one', 'succeeded'],
      ['two', 'paused'],
    ]);
    engine.resume(job.jobId);
    await settled();
    expect(runs).toEqual([1, 1]);
    expect(doll.contexts).toHaveLength(3);
    expect(doll.contexts[2]?.resumeFrom).toBe(1);
    await doll.do(() => 'second');
    expect((await engine.wait(job.jobId)).result).toEqual(['first', 'second']);
  });

  it('pauses too when its stage had been paused alone', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    const child = store.jobs.childByStage(job.jobId, 'one');
    engine.pause(child?.jobId as Job['jobId']);
    await doll.do((context) => {
      context.pausePoint();
    });
    expect(store.jobs.get(job.jobId)?.state).toBe('running');
    engine.pause(job.jobId);
    await settled();
    expect(store.jobs.get(job.jobId)?.state).toBe('paused');
  });

  it('is cancelled with its stage', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    engine.cancel(job.jobId);
    await engine.wait(job.jobId);
    expect(children(job)).toEqual([['one', 'cancelled']]);
  });

  it('ends after a stage that takes a while to stop, so that nobody sees it ended with a stage “cancelling”', async () => {
    const stubborn = Promise.withResolvers<number>();
    const slow = defineJob<unknown>({
      kind: 'puppet',
      spec: z.unknown(),
      slots: [],
      run: () => stubborn.promise,
    }) as unknown as JobDefinition<never, never>;
    const engine = started([pipeline().definition, slow]);
    const job = submit(engine, 'pipeline');
    await settled();
    engine.cancel(job.jobId);
    await settled();
    expect(store.jobs.get(job.jobId)?.state).toBe('cancelling');
    const seen: unknown[] = [];
    engine.subscribe((change) => {
      if (change.job.jobId === job.jobId) seen.push([change.job.state, children(job)]);
    });
    stubborn.resolve(1);
    await engine.wait(job.jobId);
    expect(seen.at(-1)).toEqual(['cancelled', [['one', 'cancelled']]]);
  });

  it('fails with its stage, names it, and goes on from it when it is resumed', async () => {
    const doll = puppet();
    const engine = started([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await doll.do((context) => {
      context.commitStep(8);
      throw new AppError({ code: 'DISK_FULL', message: 'The disk is full.' });
    });
    expect(await engine.wait(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'DISK_FULL', message: 'Stage "one" failed: The disk is full.', data: { stage: 'one' } },
    });
    engine.resume(job.jobId);
    await settled();
    expect(doll.contexts[1]?.resumeFrom).toBe(8);
    await doll.do(() => 'first');
    await settled();
    await doll.do(() => 'second');
    expect(await engine.wait(job.jobId)).toMatchObject({ state: 'succeeded', error: null });
  });

  it('does not take the blame for a crash of its stage', async () => {
    const doll = puppet();
    const { definition } = pipeline();
    const job = submit(makeEngine([definition, doll.definition]), 'pipeline');
    await settled();
    for (let crashes = 1; crashes <= 3; crashes += 1) {
      replaceTimers();
      makeEngine([definition, doll.definition], { soleHost: true });
      await settled();
    }
    await settled();
    const child = store.jobs.childByStage(job.jobId, 'one');
    expect(child).toMatchObject({ state: 'failed', error: { code: 'CRASH_LOOP' } });
    // The third death ends the stage, which says so in its own event.
    const told = store.jobs.events(job.jobId, { afterSeq: 0, limit: 99, includeChildren: true });
    expect(told.filter(({ type }) => type === 'job-crashed').map(({ jobId }) => jobId)).toEqual([
      child?.jobId,
      child?.jobId,
    ]);
    expect(store.jobs.get(job.jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'CRASH_LOOP', data: { stage: 'one' } },
    });
  });

  it('goes back to the queue with its stage when the host closes', async () => {
    const doll = puppet();
    const engine = makeEngine([pipeline().definition, doll.definition]);
    const job = submit(engine, 'pipeline');
    await settled();
    await engine.dispose();
    expect(store.jobs.get(job.jobId)?.state).toBe('queued');
    expect(children(job)).toEqual([['one', 'queued']]);
  });
});
