/** How a job kind is written. The engine (engine.ts) owns claims, leases, pause, cancel and crash recovery. */
import type { z } from 'zod';
import type { Logger } from '#core/ports.ts';
import type { Job, JobEvent, Progress } from '#shared/schema/job.ts';
import type { JobId } from '#shared/ids.ts';

/** `compute`: the one heavy thing at a time (model inference, training). Pipelines take no slot; their children do. */
export type SlotName = 'compute' | 'light';

export interface JobContext<Spec, Checkpoint = unknown> {
  readonly jobId: JobId;
  readonly spec: Spec;
  readonly seed: number;
  readonly attempt: number;
  /** What `commitStep` last stored; null on the first run. */
  readonly resumeFrom: Checkpoint | null;
  /** Aborted by cancel and by shutdown: unwind within five seconds. */
  readonly signal: AbortSignal;
  /** true after a pause request: start nothing new, finish what is in flight, then call `pausePoint()`. */
  readonly pauseRequested: boolean;
  /** Aborts when a pause is requested, for loops that wait. */
  readonly pauseSignal: AbortSignal;
  /** Ends the run as `paused` when a pause was requested (throws an engine-private signal); else does nothing. */
  pausePoint(): void;
  emit(event: { type: string; message: string; level?: JobEvent['level']; data?: JobEvent['data'] }): void;
  progress(progress: Progress): void;
  /** Shown soon after the next `progress`, stored for good by the next commit; a step measured again replaces its value. */
  metric(name: string, step: number, value: number): void;
  /**
   * One transaction: `write` (store rows), metrics and events since the last commit, the checkpoint. What it has returned from is
   * never lost and never stored twice.
   */
  commitStep(checkpoint: Checkpoint, write?: () => void): void;
  /** Creates or finds the child of this stage and waits for it. Pause and cancel reach it. Fails if the child fails. */
  runChild<Result = Job['result']>(child: {
    stage: string;
    kind: string;
    title: string;
    spec: Job['spec'];
    seed?: number;
  }): Promise<{ job: Job; result: Result }>;
  readonly log: Logger;
}

export interface JobDefinition<Spec, Checkpoint = unknown> {
  readonly kind: string;
  readonly spec: z.ZodType<Spec>;
  readonly slots: readonly SlotName[];
  /** The returned value becomes `job.result`. */
  run(context: JobContext<Spec, Checkpoint>): Promise<Job['result']>;
}

export function defineJob<Spec, Checkpoint = unknown>(
  definition: JobDefinition<Spec, Checkpoint>,
): JobDefinition<Spec, Checkpoint> {
  return definition;
}

export interface JobEngine {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry of kinds with different specs
  register(definition: JobDefinition<any, any>): void;
  start(): void;
  submit(job: { kind: string; title: string; spec: Job['spec']; seed: number }): Job;
  pause(jobId: JobId): Job;
  resume(jobId: JobId): Job;
  cancel(jobId: JobId): Job;
  /** Resolves when the job is in an end state (or paused, if asked). */
  wait(jobId: JobId, options?: { signal?: AbortSignal | undefined; orPaused?: boolean }): Promise<Job>;
  /** Called for each change and event of any job. Returns the unsubscribe function. */
  subscribe(listener: (change: { job: Job; event: JobEvent | null }) => void): () => void;
  /** Stops claiming, aborts what runs, releases leases; running jobs go back to `queued`. */
  dispose(): Promise<void>;
}
