/** The model of the job engine: one list of jobs, and what each request, step and crash makes of it. */
import type { JobState } from '#shared/schema/job.ts';

export interface ModelJob {
  kind: 'leaf' | 'pipeline';
  parent: number | null;
  state: JobState;
  attempt: number;
  commits: number;
  /** Steps stored of episodes in flight, over all attempts; no commit tells of them. */
  acted: number;
  crashes: number;
  crashCommits: number;
  idleCrashes: number;
  crashSteps: number;
  resumeWanted: boolean;
}

export const stages = 2;
const ended = (job: ModelJob) => ['succeeded', 'failed', 'cancelled'].includes(job.state);
const held = (job: ModelJob) => job.state === 'running' || job.state === 'pausing';

/** Jobs in order of creation; every method leaves the model in the state that the engine comes to rest in. */
export class JobModel {
  readonly jobs: ModelJob[] = [];

  add(kind: ModelJob['kind'], parent: number | null = null): number {
    return (
      this.jobs.push({
        kind,
        parent,
        state: 'queued',
        attempt: 1,
        commits: 0,
        acted: 0,
        crashes: 0,
        crashCommits: -1,
        idleCrashes: 0,
        crashSteps: -1,
        resumeWanted: false,
      }) - 1
    );
  }

  at(index: number): ModelJob {
    return this.jobs[index] as ModelJob;
  }

  children(index: number): number[] {
    return this.jobs.flatMap((job, child) => (job.parent === index ? [child] : []));
  }

  tree(index: number): number[] {
    return [index, ...this.children(index)];
  }

  /** The one leaf that holds the compute slot. */
  heldLeaf(): number | null {
    const index = this.jobs.findIndex((job) => job.kind === 'leaf' && held(job));
    return index < 0 ? null : index;
  }

  settle(): void {
    for (let changed = true; changed;) {
      changed = false;
      this.jobs.forEach((job, index) => {
        if (job.state === 'queued' && (job.kind === 'pipeline' || this.heldLeaf() === null)) {
          job.state = 'running';
          changed = true;
        }
        if (job.kind === 'pipeline' && held(job) && this.#advance(index)) changed = true;
      });
    }
  }

  #advance(index: number): boolean {
    const job = this.at(index);
    const children = this.children(index).map((child) => this.at(child));
    const current = children.at(-1);
    const waits =
      current !== undefined && !ended(current) && !(current.state === 'paused' && this.#stops(job));
    if (waits) return false;
    if (this.#stops(job)) this.#paused(job);
    else if (current?.state === 'failed' || current?.state === 'cancelled') job.state = 'failed';
    else if (children.length === stages) job.state = 'succeeded';
    else this.add('leaf', index);
    return true;
  }

  /** Its run has seen a pause, taken back or not. */
  #stops(job: ModelJob): boolean {
    return job.state === 'pausing' || job.resumeWanted;
  }

  #paused(job: ModelJob): void {
    job.state = job.resumeWanted ? 'queued' : 'paused';
    job.resumeWanted = false;
  }

  step(): void {
    const job = this.at(this.heldLeaf() ?? -1);
    job.commits += 1;
    if (this.#stops(job)) this.#paused(job);
  }

  act(): void {
    this.at(this.heldLeaf() ?? -1).acted += 1;
  }

  end(state: 'succeeded' | 'failed'): void {
    const job = this.at(this.heldLeaf() ?? -1);
    job.state = state;
    job.resumeWanted = false;
    if (state === 'succeeded') job.crashes = job.idleCrashes = 0;
  }

  pause(index: number): void {
    for (const member of this.tree(index)) {
      const job = this.at(member);
      if (job.state === 'queued') job.state = 'paused';
      else if (job.state === 'running') job.state = 'pausing';
      job.resumeWanted = false;
    }
  }

  canResume(index: number): boolean {
    return !['succeeded', 'cancelled'].includes(this.at(index).state);
  }

  resume(index: number): void {
    const failed = this.at(index).state === 'failed';
    for (const member of this.tree(index)) {
      const job = this.at(member);
      if (job.state === 'pausing') {
        job.state = 'running';
        job.resumeWanted = true;
      }
      const revived = failed && (job.state === 'failed' || (job.state === 'cancelled' && member !== index));
      if (job.state !== 'paused' && !revived) continue;
      job.state = 'queued';
      job.crashes = job.idleCrashes = 0;
    }
  }

  cancel(index: number): void {
    for (const member of this.tree(index)) if (!ended(this.at(member))) this.at(member).state = 'cancelled';
  }

  /** While the leases of the dead engine last, the new one runs what is queued beside them. */
  crash(waitForLease: boolean): void {
    const dead = this.jobs.map((job) => (held(job) ? job.state : null));
    if (waitForLease) {
      dead.forEach((state, index) => {
        // Any state that neither runs nor ended stands for "held by nobody alive".
        if (state !== null) this.at(index).state = 'cancelling';
      });
      this.settle();
    }
    const waiting = dead.map((_, index) => this.children(index).some((child) => !ended(this.at(child))));
    dead.forEach((state, index) => {
      if (state === null) return;
      const job = this.at(index);
      job.state = state;
      job.attempt += 1;
      if (waiting[index] !== true) {
        const steps = job.commits + job.acted;
        const finishedNothing = job.crashCommits === job.commits;
        job.idleCrashes = finishedNothing && job.crashSteps === steps ? job.idleCrashes + 1 : 1;
        job.crashes = finishedNothing ? job.crashes + 1 : 1;
        job.crashCommits = job.commits;
        job.crashSteps = steps;
      }
      if (job.idleCrashes >= 3 || job.crashes >= 10) job.state = 'failed';
      else if (job.state === 'pausing') this.#paused(job);
      else job.state = 'queued';
      job.resumeWanted = false;
    });
  }

  restart(): void {
    for (const job of this.jobs) {
      if (job.state === 'pausing') this.#paused(job);
      else if (job.state === 'running') job.state = 'queued';
      job.resumeWanted = false;
    }
  }
}
