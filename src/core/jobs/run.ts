/**
 * One run of one job: what the job's code sees (`JobContext`), and what it has told us but not committed yet. Events wait for the
 * next commit, so that a step which is repeated after a crash does not tell its story twice. Metrics also go with progress: one
 * value for a name and step, so a repeated step writes over its own, and nobody waits for a checkpoint to see a curve.
 */
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import type { Clock, Logger } from '#core/ports.ts';
import { AppError } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import type { Job, JobEvent, MetricPoint, Progress } from '#shared/schema/job.ts';

export type NewEvent = Omit<JobEvent, 'seq' | 'jobId'>;
export type NewMetric = Omit<MetricPoint, 'jobId'>;
export type ChildRequest = Parameters<JobContext<unknown>['runChild']>[0];

/** Thrown by `pausePoint`; only the engine catches it. */
export class PauseSignal extends Error {
  override readonly name = 'PauseSignal';
}

export interface RunHost {
  readonly clock: Clock;
  readonly log: Logger;
  commit(run: Run, checkpoint: unknown, write: (() => void) | undefined): void;
  progressChanged(run: Run): void;
  runChild(run: Run, child: ChildRequest): Promise<{ job: Job; result: Job['result'] }>;
}

export class Run {
  readonly jobId: JobId;
  readonly definition: JobDefinition<unknown>;
  readonly controller = new AbortController();
  readonly pauseController = new AbortController();
  /** Why `controller` was aborted. */
  stopping: 'cancel' | 'shutdown' | 'lost' | null = null;
  pauseRequested = false;
  /** Detached: the job goes on without it. Nothing it does is stored any more. */
  revoked = false;
  holdsSlots = true;
  /** Children that this run waits for now. */
  waitingFor = 0;
  progress: Progress | null = null;
  progressStored = true;
  events: NewEvent[] = [];
  metrics = new Map<string, NewMetric>();
  readonly ended = Promise.withResolvers<void>();
  stopKillTimer: (() => void) | null = null;
  readonly #host: RunHost;

  constructor(host: RunHost, jobId: JobId, definition: JobDefinition<unknown>) {
    this.#host = host;
    this.jobId = jobId;
    this.definition = definition;
  }

  requestPause(): void {
    this.pauseRequested = true;
    this.pauseController.abort(new PauseSignal('A pause was requested.'));
  }

  requireLive(): void {
    if (!this.revoked) return;
    throw new AppError({
      code: 'CANCELLED',
      message: 'This run was ended by the job engine; nothing more of it is stored.',
      data: { jobId: this.jobId },
    });
  }

  addEvent(event: {
    type: string;
    message: string;
    level?: JobEvent['level'];
    data?: JobEvent['data'];
  }): void {
    this.events.push({
      at: this.#host.clock.now(),
      type: event.type,
      level: event.level ?? 'info',
      message: event.message,
      data: event.data ?? {},
    });
  }

  addMetric(name: string, step: number, value: number): void {
    if (!Number.isFinite(value)) {
      this.addEvent({
        type: 'metric-not-finite',
        level: 'warn',
        message: `Metric ${name} at step ${step} is ${value}; it has no place on a curve.`,
        data: { name, step, value: String(value) },
      });
      return;
    }
    this.metrics.set(`${name}\u0000${step}`, { name, step, value, at: this.#host.clock.now() });
  }

  context(job: Job, spec: unknown, checkpoint: unknown): JobContext<unknown> {
    const host = this.#host;
    const isPauseRequested = (): boolean => this.pauseRequested;
    return {
      jobId: job.jobId,
      spec,
      seed: job.seed,
      attempt: job.attempt,
      resumeFrom: checkpoint,
      signal: this.controller.signal,
      get pauseRequested() {
        return isPauseRequested();
      },
      pauseSignal: this.pauseController.signal,
      pausePoint: () => {
        this.requireLive();
        if (this.pauseRequested) throw new PauseSignal('The job pauses here.');
      },
      emit: (event) => {
        this.requireLive();
        this.addEvent(event);
      },
      progress: (progress) => {
        this.requireLive();
        this.progress = progress;
        this.progressStored = false;
        host.progressChanged(this);
      },
      metric: (name, step, value) => {
        this.requireLive();
        this.addMetric(name, step, value);
      },
      commitStep: (next, write) => {
        host.commit(this, next, write);
      },
      runChild: async <Result>(child: ChildRequest) => {
        const done = await host.runChild(this, child);
        return { job: done.job, result: done.result as Result };
      },
      log: host.log,
    };
  }
}
