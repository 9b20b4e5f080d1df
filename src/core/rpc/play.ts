/**
 * Games played by hand. Each keeps its session open with one snapshot per state, so undo is exact and instant. A finished or
 * half-finished game can be stored as a human episode. Nothing here survives the host: an unrecorded game is gone with it.
 */
import { randomUUID } from 'node:crypto';
import { AppError } from '#shared/errors.ts';
import type { PlayState } from '#shared/contract/environments.ts';
import type { EnvironmentId, EpisodeId, TaskId } from '#shared/ids.ts';
import { trainingSplit } from '#shared/schema/environment.ts';
import type { EnvironmentRegistry, EnvironmentSession, Snapshot } from '#core/environments/port.ts';
import { closeAll } from '#core/agents/index.ts';
import type { Clock, Logger } from '#core/ports.ts';
import type { Store } from '#core/store/port.ts';
import { humanEpisode } from '#core/rpc/human-episode.ts';
import type { PlayedGame, PlayedMove } from '#core/rpc/human-episode.ts';

interface Move extends PlayedMove {
  after: Snapshot;
}

interface Play extends PlayedGame {
  readonly playId: string;
  readonly session: EnvironmentSession;
  readonly start: Snapshot;
  moves: Move[];
  touchedAt: number;
  /** Two quick clicks must not step one session at the same time. */
  tail: Promise<unknown>;
}

/** More than anybody plays at once; the one left alone longest is closed for a new one. */
const openAtMost = 32;

export class PlayDesk {
  readonly #plays = new Map<string, Play>();
  readonly #environments: EnvironmentRegistry;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(options: { environments: EnvironmentRegistry; store: Store; clock: Clock; log: Logger }) {
    this.#environments = options.environments;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  async open(
    request: { environmentId: EnvironmentId; taskId: TaskId; seed: number },
    options: { signal: AbortSignal | undefined },
  ): Promise<PlayState> {
    const provider = this.#environments.get(request.environmentId);
    const session = await provider.open({ taskId: request.taskId, seed: request.seed, ...options });
    try {
      const initial = await session.reset(options);
      const now = this.#clock.now();
      const play: Play = {
        playId: randomUUID(),
        provider,
        session,
        seed: request.seed,
        initial,
        start: await session.snapshot(),
        startedAt: now,
        moves: [],
        touchedAt: now,
        tail: Promise.resolve(),
      };
      const state = await stateOf(play);
      await this.#makeRoom();
      this.#plays.set(play.playId, play);
      return state;
    } catch (error) {
      // Nobody has its id, so nobody else can close it.
      await closeAll(this.#log, { taskId: request.taskId }, { session: session.close() });
      throw error;
    }
  }

  get(playId: string): Promise<PlayState> {
    return this.#turn(playId, stateOf);
  }

  act(playId: string, action: string, options: { signal: AbortSignal | undefined }): Promise<PlayState> {
    return this.#turn(playId, async (play) => {
      if (finished(play)) {
        throw new AppError({ code: 'CONFLICT', message: 'This game is over. Undo a move or open it again.' });
      }
      const startedAt = performance.now();
      const outcome = await play.session.step(action, options);
      const environmentMs = Math.round(performance.now() - startedAt);
      const after = await play.session.snapshot();
      play.moves.push({ action, ...outcome, at: this.#clock.now(), environmentMs, after });
      this.#store.addRealSteps(play.session.task.split, 1);
      return stateOf(play);
    });
  }

  undo(playId: string): Promise<PlayState> {
    return this.#turn(playId, async (play) => {
      if (play.moves.length === 0) {
        throw new AppError({ code: 'CONFLICT', message: 'There is no move to undo.' });
      }
      await play.session.restore(play.moves.at(-2)?.after ?? play.start);
      play.moves = play.moves.slice(0, -1);
      return stateOf(play);
    });
  }

  async close(playId: string): Promise<{ closed: boolean }> {
    const play = this.#plays.get(playId);
    if (play === undefined) return { closed: false };
    this.#plays.delete(playId);
    await play.tail.catch(() => undefined);
    await closeAll(this.#log, { playId }, { session: play.session.close() });
    return { closed: true };
  }

  /** The same moves in the same game are one episode, however often they are recorded. */
  record(playId: string): Promise<{ episodeId: EpisodeId; demonstration: boolean }> {
    return this.#turn(playId, (play) => {
      if (play.moves.length === 0) {
        throw new AppError({ code: 'CONFLICT', message: 'Nothing to record yet: make a move first.' });
      }
      const { episode, steps } = humanEpisode(play, this.#clock.now());
      this.#store.transaction(() => {
        this.#store.tasks.upsert([play.session.task]);
        this.#store.episodes.insertWhole(episode, steps);
      });
      const { episodeId, success, split } = episode;
      return { episodeId, demonstration: success && split === trainingSplit };
    });
  }

  async dispose(): Promise<void> {
    for (const playId of [...this.#plays.keys()]) await this.close(playId);
  }

  #turn<Result>(playId: string, work: (play: Play) => Result | Promise<Result>): Promise<Result> {
    const play = this.#plays.get(playId);
    if (play === undefined) {
      throw new AppError({
        code: 'NOT_FOUND',
        message:
          'This game is no longer open (the application was restarted, or it was closed). Open it again.',
      });
    }
    play.touchedAt = this.#clock.now();
    const turn = play.tail.catch(() => undefined).then(() => work(play));
    play.tail = turn;
    return turn;
  }

  async #makeRoom(): Promise<void> {
    if (this.#plays.size < openAtMost) return;
    const oldest = [...this.#plays.values()].toSorted((a, b) => a.touchedAt - b.touchedAt)[0];
    if (oldest !== undefined) await this.close(oldest.playId);
  }
}

function finished(play: Play): boolean {
  const last = play.moves.at(-1);
  return last !== undefined && (last.terminated || last.truncated);
}

async function stateOf(play: Play): Promise<PlayState> {
  const over = finished(play);
  return {
    playId: play.playId,
    task: play.session.task,
    seed: play.seed,
    initial: play.initial,
    moves: play.moves.map(({ at: _at, environmentMs: _ms, after: _after, ...move }) => move),
    maxSteps: play.provider.describe().maxSteps,
    hint: over ? null : await play.session.solve(),
    finished: over,
  };
}
