/**
 * What the rest of the core sees of the store: repositories by table group. All calls are synchronous (better-sqlite3) and
 * parse rows on the way out; heavy lists, aggregates and exports go through the reader thread behind the same queries.
 * Only the host process writes.
 */
import type { Branch, BranchPurpose, Reflection, Review } from '#shared/schema/branch.ts';
import type { Dataset } from '#shared/schema/dataset.ts';
import type { Episode, EpisodeFilter, EpisodeRow, Step } from '#shared/schema/episode.ts';
import type { ConformanceResult, Split, Task } from '#shared/schema/environment.ts';
import type { Job, JobEvent, JobFilter, JobStatus, MetricPoint } from '#shared/schema/job.ts';
import type { Model, ThreadCalibration } from '#shared/schema/model.ts';
import type { Settings } from '#shared/schema/system.ts';
import type {
  BranchId,
  DatasetId,
  EnvironmentId,
  EpisodeId,
  JobId,
  ModelId,
  ReflectionId,
  Sha256,
} from '#shared/ids.ts';

export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
  total: number | null;
}

export interface PageRequest {
  cursor: string | null;
  limit: number;
}

export interface EpisodeStore {
  /**
   * Starts an episode, or starts it again: what an unfinished attempt with this id had stored stays, under an id of its own
   * (`replacedBy` names this one). No stored step is ever removed.
   */
  begin(episode: Episode): void;
  /** Idempotent by (episodeId, stepIndex); one transaction a call. */
  appendSteps(steps: readonly Step[]): void;
  /** Status, end reason, totals. */
  finish(episode: Episode): void;
  /** A finished episode, whole, in one transaction (import, solver, human). */
  insertWhole(episode: Episode, steps: readonly Step[]): void;
  get(episodeId: EpisodeId): Episode | null;
  /** In order, at most `limit`: what a person may mean by the first characters of an id. */
  idsStartingWith(prefix: string, limit: number): EpisodeId[];
  steps(episodeId: EpisodeId): Step[];
  step(episodeId: EpisodeId, stepIndex: number): Step | null;
  /** Ids of this list that are stored, whatever became of them. */
  stored(episodeIds: readonly EpisodeId[]): Set<EpisodeId>;
  /** Ids of this list that are stored as finished: finished work is never rerun. */
  finished(episodeIds: readonly EpisodeId[]): Set<EpisodeId>;
  list(
    filter: EpisodeFilter,
    sort: 'newest' | 'oldest' | 'reward' | 'steps',
    page: PageRequest,
  ): Page<EpisodeRow>;
  neighbours(
    episodeId: EpisodeId,
    filter: EpisodeFilter,
    sort: 'newest' | 'oldest' | 'reward' | 'steps',
  ): { previous: EpisodeId | null; next: EpisodeId | null };
  facets(): {
    environments: string[];
    taskTypes: string[];
    policies: { policyKey: string; label: string }[];
    errorCodes: string[];
  };
  /** Marks what was running when the host died, and meters the steps that it had really executed. Returns how many. */
  abandonRunning(options: { jobId?: JobId; at: number }): number;
}

/** How `doneStates` names a state's branches of one purpose. */
export function branchStateKey(purpose: BranchPurpose, episodeId: EpisodeId, stepIndex: number): string {
  return `${purpose}/${episodeId}/${stepIndex}`;
}

export interface BranchStore {
  /** Idempotent by (branchId, jobId); one transaction a call. Throws NOT_FOUND when an episode is not stored. */
  insert(branches: readonly Branch[]): void;
  get(branchId: BranchId): Branch | null;
  /** In order of state, purpose and alternative; with `jobId` only those of this job. */
  ofEpisode(episodeId: EpisodeId, jobId?: JobId): Branch[];
  ofState(episodeId: EpisodeId, stepIndex: number, purpose?: BranchPurpose): Branch[];
  countByStep(episodeId: EpisodeId): Map<number, number>;
  /** Which states already have their branches from this job (resume), as `branchStateKey`s. */
  doneStates(jobId: JobId): Set<string>;
  /** `executed` by purpose and by status; what follows `rejected` is of the accepted ones. */
  summary(jobId: JobId): {
    executed: number;
    expert: number;
    iwm: number;
    sr: number;
    accepted: number;
    rejected: number;
    invalid: number;
    inadmissible: number;
    sameAsExpert: number;
    refilled: number;
    unasked: number;
  };
}

export interface ReflectionStore {
  insert(reflections: readonly Reflection[]): void;
  get(reflectionId: ReflectionId): Reflection | null;
  /** In order of state and attempt; with `jobId` only those of this job. */
  ofEpisode(episodeId: EpisodeId, jobId?: JobId): Reflection[];
  /** All that the same runs wrote about the same states, in order of state and attempt; these themselves among them. */
  attempts(of: readonly Pick<Reflection, 'episodeId' | 'jobId' | 'stepIndex'>[]): Reflection[];
  list(
    filter: {
      episodeId?: EpisodeId;
      jobId?: JobId;
      flag?: string;
      decision?: Review['decision'];
      kept?: boolean;
    },
    page: PageRequest,
  ): Page<Reflection>;
  review(reflectionId: ReflectionId, review: Review): Reflection;
}

export interface JobStore {
  insert(job: NewJob): Job;
  get(jobId: JobId): Job | null;
  /** In order, at most `limit`: what a person may mean by the first characters of an id. */
  idsStartingWith(prefix: string, limit: number): JobId[];
  children(parentId: JobId): Job[];
  /** The job and its children without specs and results, for who asks often. */
  status(jobId: JobId): { job: JobStatus; children: JobStatus[] } | null;
  childByStage(parentId: JobId, stage: string): Job | null;
  list(filter: JobFilter, page: PageRequest): Page<Job>;
  events(jobId: JobId, options: { afterSeq: number; limit: number; includeChildren: boolean }): JobEvent[];
  /** Of the job and its children, newest first. `level`: at least this; `code`: of the event's data, or its type. */
  eventsPage(
    jobId: JobId,
    filter: { level?: JobEvent['level'] | undefined; code?: string | undefined },
    page: PageRequest,
  ): Page<JobEvent>;
  metrics(jobId: JobId, options: { names?: readonly string[] | undefined; maxPoints: number }): MetricPoint[];
  remove(jobId: JobId): boolean;
}

export interface NewJob {
  jobId: JobId;
  parentId: JobId | null;
  stage: string | null;
  kind: string;
  title: string;
  spec: Job['spec'];
  seed: number;
  at: number;
}

/** What the engine writes about a job. A field that is left out stays. */
export interface JobChange {
  state?: Job['state'];
  attempt?: number;
  progress?: Job['progress'];
  result?: Job['result'];
  error?: Job['error'];
  finishedAt?: number | null;
  /** A pause was taken back: the run that saw it ends at its pause point and is claimed again at once. */
  resumeWanted?: boolean;
  crashes?: number;
  crashCommits?: number;
  idleCrashes?: number;
  crashSteps?: number;
  /** It is seen to run at this time: adds the active time up to it. Only of a job whose lease is held. */
  activeAt?: number;
  /** Gives the lease back at this time and adds the active time up to it. */
  releaseAt?: number;
}

export interface DeadLease {
  job: Job;
  /** Checkpoints committed so far. */
  commits: number;
  /** Crashes in a row at `crashCommits`. */
  crashes: number;
  crashCommits: number;
  /** Steps stored of its episodes so far, in whatever attempt. */
  steps: number;
  /** Crashes in a row at `crashCommits` and `crashSteps`: nothing at all was stored between them. */
  idleCrashes: number;
  crashSteps: number;
  /** Has a child that has not ended: a crash is the child's, not its own. */
  waitsForChild: boolean;
}

/** Only the job engine uses this part. */
export interface JobQueueStore {
  /** The oldest queued job of these kinds becomes `running`, in one statement. */
  claim(options: {
    owner: string;
    kinds: readonly string[];
    at: number;
    leaseUntil: number;
  }): { job: Job; checkpoint: unknown } | null;
  /** Prolongs the leases of this owner; returns the jobs it still holds. */
  renew(options: { owner: string; at: number; leaseUntil: number }): JobId[];
  /** Leases of others that ran out; with `soleHost`, all leases of others. */
  deadLeases(options: { owner: string; at: number; soleHost: boolean }): DeadLease[];
  change(jobId: JobId, change: JobChange): Job;
  /** Throws CONFLICT when this owner no longer holds the job. */
  saveCheckpoint(options: { jobId: JobId; owner: string; checkpoint: unknown; at: number }): void;
  holds(jobId: JobId, owner: string): boolean;
  resumeWanted(jobId: JobId): boolean;
  addEvents(jobId: JobId, events: readonly Omit<JobEvent, 'seq' | 'jobId'>[]): JobEvent[];
  /** Upserted by (job, name, step). */
  addMetrics(jobId: JobId, points: readonly Omit<MetricPoint, 'jobId'>[]): void;
  /** The job itself first. */
  descendants(jobId: JobId): JobId[];
}

export interface DatasetStore {
  insert(dataset: Dataset, episodes: Iterable<EpisodeId>): void;
  get(datasetId: DatasetId): Dataset | null;
  idsStartingWith(prefix: string, limit: number): DatasetId[];
  list(page: PageRequest): Page<Dataset>;
  ofEpisode(episodeId: EpisodeId): { datasetId: DatasetId; name: string }[];
  remove(datasetId: DatasetId): boolean;
}

export interface ModelStore {
  upsert(model: Model): void;
  get(modelId: ModelId): Model | null;
  byLocation(location: string): Model | null;
  list(): Model[];
  remove(modelId: ModelId): boolean;
  calibration(modelId: ModelId, machine: string): ThreadCalibration | null;
  saveCalibration(calibration: ThreadCalibration): void;
}

export interface TaskStore {
  /** Tasks that were really used; kept so that an episode can be read without its environment. */
  upsert(tasks: readonly Task[]): void;
  get(environmentId: EnvironmentId, taskId: Task['taskId']): Task | null;
}

export interface EnvironmentFolder {
  environmentId: EnvironmentId;
  kind: 'alfworld';
  folder: string;
  addedAt: number;
}

/** One playable game of a user's folder. */
export interface FolderGame {
  /** Relative to the folder, with `/`. */
  readonly file: string;
  readonly split: Split;
  readonly type: string;
  /** Without the words `Your task is to:`. */
  readonly instruction: string;
  /** SHA-256 of the file. */
  readonly contentHash: Sha256;
}

/** Environments that the user added, conformance results, presets, settings. */
export interface CatalogueStore {
  folders(): EnvironmentFolder[];
  /** Replaces what was known of this environment, its games included. */
  addFolder(entry: EnvironmentFolder, games: readonly FolderGame[]): void;
  /** As they were when the folder was added, by file. */
  games(environmentId: EnvironmentId): FolderGame[];
  removeFolder(environmentId: EnvironmentId): boolean;
  saveConformance(result: ConformanceResult): void;
  conformance(environmentId: EnvironmentId): ConformanceResult | null;
  presets(): { presetId: string; title: string; yaml: string }[];
  savePreset(preset: { presetId: string; title: string; yaml: string }): void;
  removePreset(presetId: string): boolean;
  settings(): Settings;
  saveSettings(settings: Settings): void;
}

export interface BlobStore {
  /**
   * Content-addressed; storing the same bytes again costs nothing. Kept for good only where a row of this transaction refers to
   * it: the rest may go when the store is opened next.
   */
  put(content: string | Uint8Array): Sha256;
  getText(hash: Sha256): string | null;
  getBytes(hash: Sha256): Uint8Array | null;
}

export interface StoreCounts {
  jobs: number;
  runningJobs: number;
  episodes: number;
  steps: number;
  branches: number;
  reflections: number;
  reflectionsToReview: number;
  datasets: number;
  models: number;
  realEnvironmentSteps: number;
}

export interface Store {
  readonly file: string;
  readonly episodes: EpisodeStore;
  readonly branches: BranchStore;
  readonly reflections: ReflectionStore;
  readonly jobs: JobStore;
  readonly queue: JobQueueStore;
  readonly datasets: DatasetStore;
  readonly models: ModelStore;
  readonly tasks: TaskStore;
  readonly catalogue: CatalogueStore;
  readonly blobs: BlobStore;
  counts(): StoreCounts;
  /** SQLite's quick check of the whole file: null when it is sound, else what it found. */
  check(): string | null;
  /** Nested calls join the outer transaction. */
  transaction<Result>(work: () => Result): Result;
  /** Adds to the meter of really executed environment steps (demonstrations, rollouts, branches, replays). */
  addRealSteps(split: Split, steps: number): void;
  backup(file: string): Promise<{ bytes: number }>;
  close(): void;
}

type Async<Queries> = {
  [Name in keyof Queries]: Queries[Name] extends (...parameters: infer Parameters) => infer Result
    ? (...parameters: [...Parameters, options?: { signal?: AbortSignal | undefined }]) => Promise<Result>
    : never;
};

/**
 * The heavy reads of `Store` on a thread of their own with a read-only connection: the caller's event loop never waits for them.
 * Each call sees everything that was committed before it was made. An aborted call rejects at once.
 */
export interface StoreReader {
  readonly episodes: Async<Pick<EpisodeStore, 'list' | 'neighbours' | 'facets' | 'get' | 'steps' | 'step'>>;
  readonly branches: Async<Pick<BranchStore, 'ofEpisode' | 'summary'>>;
  readonly reflections: Async<Pick<ReflectionStore, 'attempts' | 'list'>>;
  readonly jobs: Async<Pick<JobStore, 'list' | 'events' | 'eventsPage' | 'metrics'>>;
  counts(options?: { signal?: AbortSignal | undefined }): Promise<StoreCounts>;
  close(): Promise<void>;
}
