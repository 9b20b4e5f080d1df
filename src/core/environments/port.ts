/**
 * The environment contract, in Gymnasium's manners. Everything that an agent can act in implements it, dreamed worlds
 * included. The conformance suite (conformance.ts) checks every rule below over every provider.
 *
 * - same (task, seed) → same observations, bit for bit;
 * - `solve()` reaches success on every task whose environment says `expert: 'solver'`;
 * - an invalid action yields an error observation, `valid: false`, reward 0, and costs a step; it never throws;
 * - a branch from any prefix equals a fresh episode replayed to that prefix, and two branches never touch each other;
 * - closing twice is fine.
 */
import type {
  EnvironmentDescription,
  Observation,
  Split,
  StepOutcome,
  Task,
} from '#shared/schema/environment.ts';
import type { EnvironmentId, Sha256, TaskId } from '#shared/ids.ts';

export interface TaskQuery {
  split?: Split | undefined;
  type?: string | undefined;
  /** Matches in the instruction. */
  text?: string | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
}

/** One task as files of the benchmark that the world stands beside. */
export interface TaskFiles {
  /** Relative, with `/`. */
  folder: string;
  files: { name: string; text: string }[];
}

export interface EnvironmentProvider {
  describe(): EnvironmentDescription;
  /** In a fixed order; `total` counts all that match. */
  listTasks(query: TaskQuery): { tasks: Task[]; total: number };
  /** @throws AppError NOT_FOUND */
  getTask(taskId: TaskId): Task;
  /** Left out where the tasks cannot be written as files, or are files already. @throws AppError NOT_FOUND */
  taskFiles?(taskId: TaskId): TaskFiles;
  open(options: {
    taskId: TaskId;
    seed: number;
    signal?: AbortSignal | undefined;
  }): Promise<EnvironmentSession>;
}

/** An exact copy of a session's state; only the session that made it may restore it. */
export interface Snapshot {
  readonly stepIndex: number;
  readonly observationHash: Sha256;
  readonly state: unknown;
}

export interface ReplayProof {
  /** Hash of the observation after the last replayed action. */
  observationHash: Sha256;
  observation: Observation;
  steps: number;
}

export interface EnvironmentSession {
  readonly task: Task;
  reset(options?: { signal?: AbortSignal | undefined }): Promise<Observation>;
  /** After the end it throws AppError CONFLICT; an environment failure throws ENVIRONMENT_CRASHED or ENVIRONMENT_TIMEOUT. */
  step(action: string, options?: { signal?: AbortSignal | undefined }): Promise<StepOutcome>;
  snapshot(): Promise<Snapshot>;
  restore(snapshot: Snapshot): Promise<Observation>;
  /** reset + the given actions. With `expected` (one hash a step) it throws BRANCH_DESYNC at the first difference. */
  replayTo(
    actions: readonly string[],
    options?: { expected?: readonly Sha256[]; signal?: AbortSignal | undefined },
  ): Promise<ReplayProof>;
  /** The expert's next action in the current state, or null. */
  solve(): Promise<string | null>;
  /** What the current state shows, for people: text worlds give null. */
  render(): Promise<{
    screenshotPng: Uint8Array | null;
    accessibilityTree: string | null;
    html: string | null;
  } | null>;
  close(): Promise<void>;
}

/** All environments of this installation: bundled ones and the folders that the user added. */
export interface EnvironmentRegistry {
  list(): EnvironmentProvider[];
  /** Added folders that are away, or whose games cannot be read now; `list` leaves them out. */
  missing(): { environmentId: EnvironmentId; folder: string }[];
  /** @throws AppError ENVIRONMENT_UNKNOWN, naming those that exist */
  get(environmentId: EnvironmentId): EnvironmentProvider;
  /** Reads every `game.tw-pddl` below the folder; bad files are reported, good ones kept. @throws FILE_NOT_FOUND, ENVIRONMENT_DATA_INVALID when none is good */
  addAlfworld(
    folder: string,
    id?: EnvironmentId,
  ): Promise<{ provider: EnvironmentProvider; games: number; rejected: { file: string; reason: string }[] }>;
  remove(environmentId: EnvironmentId): boolean;
}
