/** A game played by hand as an episode: same rows as a model's, without prompts and tokens. */
import type { Observation, StepOutcome } from '#shared/schema/environment.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import {
  episodeIdOf,
  newEpisode,
  plainDecision,
  plainFacts,
  policyKeyOf,
  recordStep,
  rolloutIndexOf,
} from '#core/agents/index.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';

export interface PlayedMove extends StepOutcome {
  action: string;
  at: number;
  environmentMs: number;
}

export interface PlayedGame {
  readonly provider: EnvironmentProvider;
  readonly session: Pick<EnvironmentSession, 'task'>;
  readonly seed: number;
  readonly initial: Observation;
  readonly startedAt: number;
  readonly moves: readonly PlayedMove[];
}

const human = { facts: plainFacts('human'), label: 'human' };

export function humanEpisode(game: PlayedGame, now: number): { episode: Episode; steps: Step[] } {
  const { provider, seed, startedAt, initial, moves } = game;
  const { task } = game.session;
  const description = provider.describe();
  const rolloutIndex = rolloutIndexOf(moves.map(({ action }) => action));
  const episodeId = episodeIdOf({
    purpose: 'human',
    environmentId: description.id,
    environmentVersion: description.version,
    dataChecksum: description.dataChecksum,
    taskId: task.taskId,
    seed,
    policyKey: policyKeyOf(human.facts),
    rolloutIndex,
    limits: { maxSteps: description.maxSteps, maxPromptTokens: 0, maxInvalidInARow: null },
  });
  const episode = newEpisode({
    episodeId,
    jobId: null,
    purpose: 'human',
    task,
    description,
    policy: human,
    seed,
    rolloutIndex,
    startedAt,
  });
  episode.initialObservation = initial.text;
  episode.initialAdmissible = initial.admissible;
  const steps = moves.map((move, index) =>
    recordStep(episode, {
      decision: plainDecision(move.action),
      action: move.action,
      outcome: move,
      truncated: move.truncated,
      // The time a person took to decide is what a model's time is elsewhere.
      modelMs: Math.max(0, move.at - (moves[index - 1]?.at ?? startedAt) - move.environmentMs),
      environmentMs: move.environmentMs,
      createdAt: move.at,
    }),
  );
  const last = moves.at(-1);
  const ended = last !== undefined && (last.terminated || last.truncated);
  return {
    episode: {
      ...episode,
      // Left in the middle: kept and shown, never used as a demonstration.
      status: ended ? 'finished' : 'abandoned',
      endReason: ended ? (last.terminated ? 'terminated' : 'step-limit') : null,
      success: last?.success ?? false,
      finishedAt: now,
    },
    steps,
  };
}
