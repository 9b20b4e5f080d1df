/**
 * The durable job engine: claims queued jobs into free slots, holds their leases, and turns every way a run can end into a state
 * of the database. The state machine is `queued → running → succeeded | failed | cancelled`, with `pausing → paused → queued` and
 * `cancelling`; a failed job can be resumed too, from its last checkpoint.
 *
 * What the database says is the truth. Memory holds only what a crash may lose: live runs, and what they have not committed yet.
 */
import { randomUUID } from 'node:crypto';
import { Changes } from '#core/jobs/changes.ts';
import { endOf, note, stackOf } from '#core/jobs/ends.ts';
import type { Outcome } from '#core/jobs/ends.ts';
import type { JobDefinition, JobEngine, SlotName } from '#core/jobs/port.ts';
import { recoverDeadLeases } from '#core/jobs/recovery.ts';
import { createRequests } from '#core/jobs/requests.ts';
import { PauseSignal, Run } from '#core/jobs/run.ts';
import type { ChildRequest, NewEvent, RunHost } from '#core/jobs/run.ts';
import { SlotPool } from '#core/jobs/slots.ts';
import { realTimers } from '#core/jobs/timers.ts';
import type { Timers } from '#core/jobs/timers.ts';
import type { Clock, Logger } from '#core/ports.ts';
import type { JobChange, Store } from '#core/store/port.ts';
import { AppError, toAppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import { canResume, isEnded } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';

const leaseMs = 30_000;
const renewEveryMs = 5_000;
/** A cancelled or shut-down run has this long to unwind before it is detached. */
const unwindMs = 5_000;
const progressEveryMs = 250;

export interface JobEngineOptions {
  store: Store;
  clock: Clock;
  log: Logger;
  slots: Readonly<Record<SlotName, number>>;
  /** Who claims, for people who read the database; each engine adds a unique part. */
  owner: string;
  /** The caller holds the data folder's host lock: leases of other owners are dead without waiting for them to run out. */
  soleHost?: boolean;
  /** Called once when the end of a job cannot be stored, as on a full disk; it is tried again until it can. */
  onEndNotStored?: (job: { jobId: JobId; reason: string }) => void;
  /** Called when a root job ends. */
  onEnded?: (job: Job) => void;
  timers?: Timers;
  /** Makes job ids and the owner's unique part. */
  newId?: () => string;
}

export function createJobEngine(options: JobEngineOptions): JobEngine {
  const { store, clock, log } = options;
  const timers = options.timers ?? realTimers;
  const newId = options.newId ?? randomUUID;
  const owner = `${options.owner}:${newId()}`;
  const soleHost = options.soleHost === true;
  const definitions = new Map<string, JobDefinition<unknown>>();
  const slots = new SlotPool(options.slots);
  const changes = new Changes(store, log);
  const runs = new Map<JobId, Run>();
  /** Ends that could not be written (full disk); tried again at each renewal. */
  const unsettled = new Map<Run, { outcome: Outcome }>();
  let state: 'new' | 'started' | 'disposed' = 'new';
  let stopRenewing: (() => void) | null = null;
  let stopProgress: (() => void) | null = null;

  if (options.onEnded !== undefined) {
    const { onEnded } = options;
    changes.subscribe(({ job, event }) => {
      if (job.parentId === null && isEnded(job.state) && event !== null && endEvents.has(event.type))
        onEnded(job);
    });
  }

  const host: RunHost = { clock, log, commit, progressChanged, runChild };
  const { pauseTree, resumeTree, cancelTree } = createRequests({ store, clock, requireJob, apply });

  function requireJob(jobId: JobId): Job {
    const job = store.jobs.get(jobId);
    if (job !== null) return job;
    throw new AppError({ code: 'NOT_FOUND', message: `No job ${jobId} is stored.`, data: { jobId } });
  }

  function requireDefinition(kind: string): JobDefinition<unknown> {
    const definition = definitions.get(kind);
    if (definition !== undefined) return definition;
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `There is no job kind "${kind}". Known: ${[...definitions.keys()].join(', ')}.`,
      data: { kind },
    });
  }

  function parseSpec(definition: JobDefinition<unknown>, spec: unknown): unknown {
    const parsed = definition.spec.safeParse(spec);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `The spec of this ${definition.kind} job is wrong at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'unknown'}`,
      data: { kind: definition.kind, path: issue?.path.join('.') ?? '' },
      cause: parsed.error,
    });
  }

  function apply(jobId: JobId, change: JobChange, event: Omit<NewEvent, 'at'> | null): Job {
    const events = event === null ? [] : store.queue.addEvents(jobId, [{ at: clock.now(), ...event }]);
    const job = store.queue.change(jobId, change);
    changes.add(job, events);
    return job;
  }

  function create(job: {
    parentId: JobId | null;
    stage: string | null;
    kind: string;
    title: string;
    spec: Job['spec'];
    seed: number;
  }): Job {
    parseSpec(requireDefinition(job.kind), job.spec);
    const created = store.jobs.insert({ ...job, jobId: newId() as JobId, at: clock.now() });
    return apply(created.jobId, {}, note('job-queued', `${job.title} is queued.`));
  }

  // ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts what fits. Called whenever a job is queued or a slot becomes free. */
  function pump(): void {
    if (changes.inTransaction) {
      // Asked for inside a commit, which may still be rolled back.
      queueMicrotask(pump);
      return;
    }
    while (state === 'started') {
      const kinds = [...definitions.values()].filter((definition) => slots.isFree(definition.slots));
      if (kinds.length === 0) return;
      const claimed = changes.transaction(() => {
        const at = clock.now();
        const claim = store.queue.claim({
          owner,
          kinds: kinds.map((definition) => definition.kind),
          at,
          leaseUntil: at + leaseMs,
        });
        if (claim === null) return null;
        const { job } = claim;
        const again = claim.checkpoint !== null;
        const message = again ? `${job.title} goes on from its last checkpoint.` : `${job.title} started.`;
        return {
          job: apply(
            job.jobId,
            {},
            note(again ? 'job-continued' : 'job-started', message, { attempt: job.attempt }),
          ),
          checkpoint: claim.checkpoint,
        };
      });
      if (claimed === null) return;
      launch(claimed.job, claimed.checkpoint);
    }
  }

  function launch(job: Job, checkpoint: unknown): void {
    const definition = requireDefinition(job.kind);
    const run = new Run(host, job.jobId, definition);
    run.progress = job.progress;
    runs.set(job.jobId, run);
    slots.take(definition.slots);
    // A microtask later, so that the caller of `submit` sees its job before anything runs.
    void Promise.resolve()
      .then(() => definition.run(run.context(job, parseSpec(definition, job.spec), checkpoint)))
      .then(
        (result) => settle(run, { ok: true, result }),
        async (error: unknown) => {
          if (run.stopping === 'cancel')
            await stagesEnded(run).catch((failed: unknown) =>
              log.warn({ jobId: run.jobId, error: String(failed) }, 'stages-not-awaited'),
            );
          settle(run, { ok: false, error });
        },
      );
  }

  /** Who watches a cancelled pipeline leaves when it ends: by then its stages must be cancelled too, not `cancelling`. */
  async function stagesEnded(run: Run): Promise<void> {
    const below = store.queue.descendants(run.jobId).filter((jobId) => jobId !== run.jobId);
    await Promise.all(below.map((jobId) => runs.get(jobId)?.ended.promise));
  }

  function commit(run: Run, checkpoint: unknown, write: (() => void) | undefined): void {
    run.requireLive();
    changes.transaction(() => {
      store.queue.saveCheckpoint({ jobId: run.jobId, owner, checkpoint, at: clock.now() });
      write?.();
      flush(run);
    });
    forget(run);
  }

  /** Inside a transaction: what the run has told since its last commit. */
  function flush(run: Run): void {
    const events = store.queue.addEvents(run.jobId, run.events);
    store.queue.addMetrics(run.jobId, [...run.metrics.values()]);
    const job = store.queue.change(run.jobId, { progress: run.progress });
    changes.add(job, events);
  }

  function forget(run: Run): void {
    run.events = [];
    run.metrics.clear();
    run.progressStored = true;
  }

  function progressChanged(run: Run): void {
    if (stopProgress !== null || run.revoked) return;
    stopProgress = timers.after(progressEveryMs, () => {
      stopProgress = null;
      for (const live of runs.values()) {
        if (live.progressStored || live.revoked) continue;
        try {
          changes.transaction(() => {
            if (!store.queue.holds(live.jobId, owner)) return;
            store.queue.addMetrics(live.jobId, [...live.metrics.values()]);
            changes.add(store.queue.change(live.jobId, { progress: live.progress, activeAt: clock.now() }));
          });
          live.metrics.clear();
          live.progressStored = true;
        } catch (error) {
          // Progress is a courtesy: the next commit brings it and what was measured, and reports a full disk to the job itself.
          log.warn({ jobId: live.jobId, error: String(error) }, 'job-progress-not-stored');
        }
      }
    });
  }

  // ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  function settle(run: Run, outcome: Outcome): void {
    if (run.revoked) {
      run.ended.resolve();
      return;
    }
    try {
      changes.transaction(() => writeEnd(run, outcome));
      unsettled.delete(run);
      release(run);
    } catch (error) {
      if (!unsettled.has(run)) {
        options.onEndNotStored?.({ jobId: run.jobId, reason: toAppError(error).message });
      }
      unsettled.set(run, { outcome });
      log.error({ jobId: run.jobId, error: String(error) }, 'job-end-not-stored');
      changes.rejectWaiters(run.jobId, toAppError(error));
      if (state === 'disposed') release(run);
    }
  }

  /** After the end is in the database: frees memory, slots and timers, starts the next job. */
  function release(run: Run): void {
    run.revoked = true;
    run.stopKillTimer?.();
    runs.delete(run.jobId);
    giveSlots(run);
    run.ended.resolve();
    pump();
  }

  function writeEnd(run: Run, outcome: Outcome): void {
    const before = requireJob(run.jobId);
    if (!store.queue.holds(run.jobId, owner)) return;
    flush(run);
    const at = clock.now();
    const left = store.episodes.abandonRunning({ jobId: run.jobId, at });
    if (left > 0) log.info({ jobId: run.jobId, episodes: left }, 'episodes-abandoned');
    const { change, event } = endOf(before, outcome, {
      at,
      stopping: run.stopping,
      resumeWanted: store.queue.resumeWanted(run.jobId),
    });
    if (change.error?.code === 'INTERNAL' && !outcome.ok) {
      log.error({ jobId: run.jobId, error: stackOf(outcome.error) }, 'job-failed');
    }
    apply(run.jobId, { releaseAt: at, ...change }, event);
    forget(run);
    if (isEnded(change.state)) for (const child of store.jobs.children(run.jobId)) cancelTree(child.jobId);
  }

  /** The run did not unwind in time: it is detached, its job ends without it. */
  function kill(run: Run): void {
    if (run.revoked) return;
    run.addEvent({
      type: 'job-killed',
      level: 'warn',
      message: `The run did not stop within ${unwindMs / 1000} seconds and was cut off. What it had committed is kept.`,
    });
    log.warn({ jobId: run.jobId }, 'job-killed');
    settle(run, { ok: false, error: new AppError({ code: 'CANCELLED', message: 'The run was cut off.' }) });
  }

  function stop(run: Run, reason: 'cancel' | 'shutdown' | 'lost'): void {
    run.stopping = reason;
    run.controller.abort(new AppError({ code: 'CANCELLED', message: stopMessages[reason] }));
  }

  // ── children ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async function runChild(run: Run, request: ChildRequest): Promise<{ job: Job; result: Job['result'] }> {
    run.requireLive();
    run.controller.signal.throwIfAborted();
    if (run.pauseRequested) throw new PauseSignal('The job pauses before its next stage.');
    const child = changes.transaction(
      () =>
        store.jobs.childByStage(run.jobId, request.stage) ??
        create({
          parentId: run.jobId,
          stage: request.stage,
          kind: request.kind,
          title: request.title,
          spec: request.spec,
          seed: request.seed ?? requireJob(run.jobId).seed,
        }),
    );
    const job = isEnded(child.state) ? child : await waitForChild(run, child);
    run.requireLive();
    if (job.state === 'succeeded') return { job, result: job.result };
    throw new AppError({
      code: job.error?.code ?? 'CANCELLED',
      message: `Stage "${request.stage}" ${job.state === 'failed' ? 'failed' : 'was cancelled'}: ${job.error?.message ?? job.title}`,
      data: { ...job.error?.data, stage: request.stage, childJobId: job.jobId },
    });
  }

  /** Without slots, so that the child can have them; takes them again before the run goes on. */
  async function waitForChild(run: Run, child: Job): Promise<Job> {
    const { signal } = run.controller;
    run.waitingFor += 1;
    giveSlots(run);
    pump();
    let job: Job;
    try {
      job = await changes.wait(
        requireJob(child.jobId),
        (now) => isEnded(now.state) || (now.state === 'paused' && run.pauseRequested),
        signal,
      );
    } finally {
      run.waitingFor -= 1;
    }
    // A run that pauses needs no slot for that; the ended child is found again when it is resumed.
    if (run.pauseRequested) throw new PauseSignal('The job pauses after its stage.');
    // With several children at once the slots come back after the last.
    if (run.waitingFor === 0 && !run.holdsSlots) {
      await slots.acquire(run.definition.slots, AbortSignal.any([signal, run.pauseController.signal]));
      run.holdsSlots = true;
      if (run.waitingFor > 0) giveSlots(run);
    }
    return job;
  }

  function giveSlots(run: Run): void {
    if (!run.holdsSlots) return;
    run.holdsSlots = false;
    slots.give(run.definition.slots);
  }

  // ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** After the database says so: tells the live runs. */
  function signalRuns(jobId: JobId): void {
    for (const id of store.queue.descendants(jobId).reverse()) {
      const run = runs.get(id);
      if (run === undefined || run.revoked) continue;
      const job = requireJob(id);
      if (job.state === 'pausing') run.requestPause();
      if (job.state === 'cancelling' && run.stopping === null) {
        run.stopKillTimer = timers.after(unwindMs, () => kill(run));
        stop(run, 'cancel');
      }
    }
    // A parent that already waits for a paused child learns that it shall pause too.
    for (const id of store.queue.descendants(jobId)) changes.recheck(requireJob(id));
  }

  function request(jobId: JobId, work: (job: Job) => void): Job {
    changes.transaction(() => work(requireJob(jobId)));
    signalRuns(jobId);
    pump();
    return requireJob(jobId);
  }

  // ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────────────────

  function tick(): void {
    try {
      const at = clock.now();
      const held = new Set(store.queue.renew({ owner, at, leaseUntil: at + leaseMs }));
      for (const run of [...runs.values()]) {
        if (held.has(run.jobId) || run.revoked) continue;
        log.warn({ jobId: run.jobId }, 'job-lease-lost');
        stop(run, 'lost');
        release(run);
      }
      recoverDeadLeases({ store, changes }, { owner, at, soleHost });
      for (const [run, { outcome }] of [...unsettled]) settle(run, outcome);
      pump();
    } catch (error) {
      log.error({ error: String(error) }, 'job-renewal-failed');
    }
  }

  return {
    register(definition) {
      definitions.set(definition.kind, definition as JobDefinition<unknown>);
      if (state === 'started') pump();
    },

    start() {
      if (state !== 'new') return;
      state = 'started';
      const at = clock.now();
      const recovered = recoverDeadLeases({ store, changes }, { owner, at, soleHost });
      // With the lock held nobody else can be playing: episodes without a job are left over too.
      const abandoned = soleHost ? store.episodes.abandonRunning({ at }) : 0;
      if (recovered + abandoned > 0) log.info({ recovered, abandoned }, 'jobs-recovered');
      stopRenewing = timers.every(renewEveryMs, tick);
      pump();
    },

    submit(job) {
      const created = changes.transaction(() => create({ ...job, parentId: null, stage: null }));
      pump();
      return requireJob(created.jobId);
    },

    pause: (jobId) =>
      request(jobId, () => {
        pauseTree(jobId);
      }),

    resume: (jobId) =>
      request(jobId, (job) => {
        if ((isEnded(job.state) && !canResume(job.state)) || job.state === 'cancelling') {
          throw new AppError({
            code: 'CONFLICT',
            message: `${job.title} is ${job.state} and cannot go on. Start a new run; finished episodes are not run twice.`,
            data: { jobId, state: job.state },
          });
        }
        resumeTree(jobId);
      }),

    cancel: (jobId) =>
      request(jobId, () => {
        cancelTree(jobId);
      }),

    async wait(jobId, { signal, orPaused } = {}) {
      return await changes.wait(
        requireJob(jobId),
        (job) => isEnded(job.state) || (orPaused === true && job.state === 'paused'),
        signal,
      );
    },

    subscribe: (listener) => changes.subscribe(listener),

    async dispose() {
      if (state === 'disposed') return;
      state = 'disposed';
      stopRenewing?.();
      stopProgress?.();
      const live = [...runs.values()];
      for (const run of live) if (run.stopping === null) stop(run, 'shutdown');
      // Over already, and their end found no room: tried once more, and not waited for.
      for (const [run, { outcome }] of [...unsettled]) settle(run, outcome);
      const unwound = Promise.withResolvers<void>();
      const stopTimer = timers.after(unwindMs, unwound.resolve);
      await Promise.race([Promise.all(live.map((run) => run.ended.promise)), unwound.promise]);
      stopTimer();
      for (const run of live) kill(run);
      changes.close();
    },
  };
}

const endEvents: ReadonlySet<string> = new Set(['job-succeeded', 'job-failed', 'job-cancelled']);

const stopMessages = {
  cancel: 'The job was cancelled.',
  shutdown: 'The host is closing; the job goes on when it starts again.',
  lost: 'Another host took this job over.',
};
