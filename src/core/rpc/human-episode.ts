/** A game played by hand as an episode: same rows as a model's, without prompts and tokens. */
import type { Episode, PolicyFacts, Step } from '#shared/schema/episode.ts';
import { episodeIdOf, identityHash, policyKeyOf } from '#core/agents/index.ts';
import type { Play } from '#core/rpc/play.ts';

const human: PolicyFacts = {
  kind: 'human',
  modelId: null,
  modelSha256: null,
  adapterSha256: [],
  chatTemplateHash: null,
  settings: {},
};

/** The moves number the rollout, so that two different games of one task are two episodes and the same game is one. */
function rolloutIndexOf(play: Play): number {
  return Number.parseInt(identityHash(play.moves.map(({ action }) => action)).slice(0, 7), 16);
}

export function humanEpisode(play: Play, now: number): { episode: Episode; steps: Step[] } {
  const { task } = play.session;
  const description = play.provider.describe();
  const last = play.moves.at(-1);
  const ended = last !== undefined && (last.terminated || last.truncated);
  const policyKey = policyKeyOf(human);
  const rolloutIndex = rolloutIndexOf(play);
  const episodeId = episodeIdOf({
    purpose: 'human',
    environmentId: description.id,
    environmentVersion: description.version,
    dataChecksum: description.dataChecksum,
    taskId: task.taskId,
    seed: play.seed,
    policyKey,
    rolloutIndex,
    limits: { maxSteps: description.maxSteps, maxPromptTokens: 0, maxInvalidInARow: null },
  });
  const steps = play.moves.map((move, stepIndex): Step => {
    const previousAt = play.moves[stepIndex - 1]?.at ?? play.startedAt;
    return {
      episodeId,
      stepIndex,
      promptHash: null,
      tokens: null,
      completion: null,
      thought: null,
      action: move.action,
      parseStatus: 'ok',
      valid: move.valid,
      observation: move.observation.text,
      admissible: move.observation.admissible,
      observationHash: move.after.observationHash,
      reward: move.reward,
      terminated: move.terminated,
      truncated: move.truncated,
      error: null,
      // The time a person took to decide is what a model's time is elsewhere.
      modelMs: Math.max(0, move.at - previousAt - move.environmentMs),
      environmentMs: move.environmentMs,
      createdAt: move.at,
    };
  });
  const episode: Episode = {
    episodeId,
    jobId: null,
    purpose: 'human',
    environmentId: description.id,
    environmentVersion: description.version,
    dataChecksum: description.dataChecksum,
    taskId: task.taskId,
    taskType: task.type,
    split: task.split,
    instruction: task.instruction,
    policy: human,
    policyKey,
    policyLabel: 'human',
    seed: play.seed,
    rolloutIndex,
    // Left in the middle: kept and shown, never used as a demonstration.
    status: ended ? 'finished' : 'abandoned',
    endReason: ended ? (last.terminated ? 'terminated' : 'step-limit') : null,
    success: last?.success ?? false,
    totalReward: play.moves.reduce((sum, move) => sum + move.reward, 0),
    steps: steps.length,
    invalidActions: play.moves.filter((move) => !move.valid).length,
    parseFailures: 0,
    promptTokens: 0,
    evaluatedPromptTokens: 0,
    completionTokens: 0,
    modelMs: steps.reduce((sum, step) => sum + step.modelMs, 0),
    environmentMs: steps.reduce((sum, step) => sum + step.environmentMs, 0),
    retries: 0,
    attempt: 1,
    replacedBy: null,
    initialObservation: play.initial.text,
    initialAdmissible: play.initial.admissible,
    error: null,
    startedAt: play.startedAt,
    finishedAt: now,
  };
  return { episode, steps };
}
