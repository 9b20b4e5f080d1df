/** A real job engine on a real store in a temporary folder, with time in the test's hand. */
import { afterEach, beforeEach } from 'vitest';
import { z } from 'zod';
import { createJobEngine } from '#core/jobs/index.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { JobContext, JobDefinition, JobEngine } from '#core/jobs/port.ts';
import { openStore } from '#core/store/index.ts';
import type { Store } from '#core/store/port.ts';
import type { Job } from '#shared/schema/job.ts';
import { manualTimers, settled } from '#test/helpers/manual-timers.ts';
import type { ManualTimers } from '#test/helpers/manual-timers.ts';
import { fixedClock, silentLog, temporaryFolder } from '#test/helpers/store-records.ts';

let temporary: ReturnType<typeof temporaryFolder>;
export let clock: ReturnType<typeof fixedClock>;
export let timers: ManualTimers;
export let store: Store;
export const engines: JobEngine[] = [];
export let endedRoots: Job[] = [];

/** Call once in a test file: a new store, clock and timers for each test. The exported variables then name them. */
export function useJobEngines(): void {
  beforeEach(() => {
    temporary = temporaryFolder();
    clock = fixedClock();
    timers = manualTimers(clock);
    endedRoots = [];
    store = openStore({ file: `${temporary.folder}/daydream.sqlite`, clock, log: silentLog });
  });
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.dispose()));
    store.close();
    temporary.remove();
  });
}

/** The timers made so far never fire again, as in a process that died. */
export function replaceTimers(): ManualTimers {
  timers = manualTimers(clock);
  return timers;
}

export function makeEngine(
  definitions: JobDefinition<never, never>[],
  options: { soleHost?: boolean; timers?: ManualTimers } = {},
): JobEngine {
  const engine = createJobEngine({
    store,
    clock,
    log: silentLog,
    slots: { compute: 1, light: 2 },
    owner: 'test',
    onEnded: (job) => endedRoots.push(job),
    timers: options.timers ?? timers,
    soleHost: options.soleHost ?? false,
  });
  for (const definition of definitions) engine.register(definition);
  engine.start();
  return engine;
}

export function started(
  definitions: JobDefinition<never, never>[],
  options: { soleHost?: boolean; timers?: ManualTimers } = {},
): JobEngine {
  const engine = makeEngine(definitions, options);
  engines.push(engine);
  return engine;
}

/** A job that does what the test tells it to, one order at a time. */
export function puppet(kind = 'puppet', slots: readonly ('compute' | 'light')[] = ['compute']) {
  const contexts: JobContext<unknown, number>[] = [];
  const orders: PromiseWithResolvers<() => unknown>[] = [];
  const definition = defineJob<unknown, number>({
    kind,
    spec: z.unknown(),
    slots,
    async run(context) {
      const own = contexts.push(context) - 1;
      for (;;) {
        const order = Promise.withResolvers<() => unknown>();
        orders[own] = order;
        const abort = () => {
          order.reject(context.signal.reason as Error);
        };
        context.signal.addEventListener('abort', abort, { once: true });
        const result = (await order.promise)();
        if (result !== undefined) return result as Job['result'];
      }
    },
  });
  return {
    definition: definition as unknown as JobDefinition<never, never>,
    contexts,
    async do(work: (context: JobContext<unknown, number>) => unknown, run = contexts.length - 1) {
      const context = contexts[run];
      if (context === undefined) throw new Error(`no run ${run}`);
      orders[run]?.resolve(() => work(context));
      await settled();
    },
  };
}

export function submit(engine: JobEngine, kind = 'puppet', spec: Job['spec'] = {}): Job {
  return engine.submit({ kind, title: `A ${kind}`, spec, seed: 7 });
}

export function eventTypes(job: Job): string[] {
  return store.jobs
    .events(job.jobId, { afterSeq: 0, limit: 1000, includeChildren: false })
    .map((event) => event.type);
}
