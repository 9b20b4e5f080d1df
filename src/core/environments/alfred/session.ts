/** One episode of an ALFRED game behind the environment port: native snapshots, verified replay, the expert. */
import { AppError } from '#shared/errors.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { Observation, StepOutcome, Task } from '#shared/schema/environment.ts';
import { observationHash } from '../observation-hash.ts';
import type { EnvironmentSession, ReplayProof, Snapshot } from '../port.ts';
import { commandText } from './actions.ts';
import type { Command } from './actions.ts';
import { nothingHappens } from './feedback.ts';
import type { AlfredGame } from './game.ts';
import { solve } from './solver.ts';
import type { State } from './state.ts';

/** The original's step limit in the papers. */
export const maxSteps = 50;

interface Frame {
  readonly owner: AlfredSession;
  readonly words: State;
  readonly observation: Observation;
  readonly finished: boolean;
}

/** What Python's `str.strip` removes, which the original does to a command before it looks it up. */
const outerSpace =
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

export class AlfredSession implements EnvironmentSession {
  readonly task: Task;
  readonly #game: AlfredGame;
  #state: State;
  #commands: readonly Command[] = [];
  #observation: Observation;
  #stepIndex = 0;
  #finished = false;
  #closed = false;

  constructor(task: Task, game: AlfredGame) {
    this.task = task;
    this.#game = game;
    this.#state = game.start();
    this.#observation = this.#observe(game.intro(this.#state));
  }

  async reset(options: { signal?: AbortSignal | undefined } = {}): Promise<Observation> {
    this.#assertUsable(options.signal);
    this.#restart();
    return this.#observation;
  }

  async step(action: string, options: { signal?: AbortSignal | undefined } = {}): Promise<StepOutcome> {
    this.#assertUsable(options.signal);
    if (this.#finished) {
      throw new AppError({
        code: 'CONFLICT',
        message: `The episode of task ${this.task.taskId} has ended after ${String(this.#stepIndex)} steps; reset it or restore a snapshot.`,
        data: { taskId: this.task.taskId, steps: this.#stepIndex },
      });
    }
    return this.#advance(action);
  }

  async snapshot(): Promise<Snapshot> {
    this.#assertUsable();
    const frame: Frame = {
      owner: this,
      words: this.#state.slice(),
      observation: this.#observation,
      finished: this.#finished,
    };
    return { stepIndex: this.#stepIndex, observationHash: observationHash(this.#observation), state: frame };
  }

  async restore(snapshot: Snapshot): Promise<Observation> {
    this.#assertUsable();
    const frame = snapshot.state as Partial<Frame> | null;
    if (frame?.owner !== this || frame.words === undefined || frame.observation === undefined) {
      throw new AppError({
        code: 'CONFLICT',
        message: 'A snapshot can be restored only by the session that made it.',
        data: { taskId: this.task.taskId },
      });
    }
    this.#state.set(frame.words);
    this.#commands = this.#game.commands(this.#state);
    this.#observation = frame.observation;
    this.#stepIndex = snapshot.stepIndex;
    this.#finished = frame.finished === true;
    return this.#observation;
  }

  async replayTo(
    actions: readonly string[],
    options: { expected?: readonly Sha256[]; signal?: AbortSignal | undefined } = {},
  ): Promise<ReplayProof> {
    this.#assertUsable(options.signal);
    this.#restart();
    for (const [index, action] of actions.entries()) {
      if (this.#finished) throw this.#desync(index, action, 'the episode had already ended');
      this.#advance(action);
      const expected = options.expected?.[index];
      if (expected !== undefined && expected !== observationHash(this.#observation)) {
        throw this.#desync(index, action, 'the observation differs from the recorded one');
      }
    }
    return {
      observationHash: observationHash(this.#observation),
      observation: this.#observation,
      steps: this.#stepIndex,
    };
  }

  async solve(): Promise<string | null> {
    this.#assertUsable();
    if (this.#finished) return null;
    const next = solve(this.#game, this.#state)?.[0];
    return next === undefined ? null : commandText(this.#game.world, next);
  }

  async render(): Promise<null> {
    this.#assertUsable();
    return null;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#commands = [];
  }

  #restart(): void {
    this.#state.set(this.#game.start());
    this.#stepIndex = 0;
    this.#finished = false;
    this.#observation = this.#observe(this.#game.intro(this.#state));
  }

  #observe(text: string): Observation {
    this.#commands = this.#game.commands(this.#state);
    return { text, admissible: this.#commands.map((command) => command.text) };
  }

  #advance(action: string): StepOutcome {
    const typed = action.replace(outerSpace, '');
    const command = this.#commands.find(({ text }) => text === typed);
    this.#stepIndex += 1;
    if (command === undefined) {
      this.#observation = { text: nothingHappens, admissible: this.#observation.admissible };
    } else {
      this.#observation = this.#observe(this.#game.apply(this.#state, command));
    }
    const success = this.#game.won(this.#state);
    const truncated = !success && this.#stepIndex >= maxSteps;
    this.#finished = success || truncated;
    return {
      observation: this.#observation,
      reward: success ? 1 : 0,
      terminated: success,
      truncated,
      success,
      valid: command !== undefined,
    };
  }

  #assertUsable(signal?: AbortSignal | undefined): void {
    if (signal?.aborted === true) {
      throw new AppError({
        code: 'CANCELLED',
        message: 'The episode was cancelled; its steps so far are kept.',
      });
    }
    if (this.#closed) {
      throw new AppError({
        code: 'CONFLICT',
        message: `The session of task ${this.task.taskId} is closed; open the task again.`,
        data: { taskId: this.task.taskId },
      });
    }
  }

  #desync(index: number, action: string, reason: string): AppError {
    return new AppError({
      code: 'BRANCH_DESYNC',
      message: `Replay of task ${this.task.taskId} left its record at step ${String(index)} (${action}): ${reason}. The branch is rejected.`,
      data: { taskId: this.task.taskId, step: index, action },
    });
  }
}
