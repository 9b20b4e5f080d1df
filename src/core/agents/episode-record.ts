/** How an episode and its steps are written down, whoever acts: a model, the expert, an imported list, a person. */
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { EnvironmentDescription, StepOutcome, Task } from '#shared/schema/environment.ts';
import type { Episode, EpisodePurpose, PolicyFacts, Step } from '#shared/schema/episode.ts';
import { observationHash } from '#core/environments/index.ts';
import { policyKeyOf } from '#core/agents/identity.ts';
import type { Decision } from '#core/agents/policy.ts';

/** An episode before its first observation. */
export function newEpisode(begun: {
  episodeId: EpisodeId;
  jobId: JobId | null;
  purpose: EpisodePurpose;
  task: Task;
  description: EnvironmentDescription;
  policy: { facts: PolicyFacts; label: string };
  seed: number;
  rolloutIndex: number;
  startedAt: number;
}): Episode {
  const { task, description, policy } = begun;
  return {
    episodeId: begun.episodeId,
    jobId: begun.jobId,
    purpose: begun.purpose,
    environmentId: task.environmentId,
    environmentVersion: description.version,
    dataChecksum: description.dataChecksum,
    taskId: task.taskId,
    taskType: task.type,
    split: task.split,
    instruction: task.instruction,
    policy: policy.facts,
    policyKey: policyKeyOf(policy.facts),
    policyLabel: policy.label,
    seed: begun.seed,
    rolloutIndex: begun.rolloutIndex,
    status: 'running',
    endReason: null,
    success: false,
    totalReward: 0,
    steps: 0,
    invalidActions: 0,
    parseFailures: 0,
    promptTokens: 0,
    evaluatedPromptTokens: 0,
    completionTokens: 0,
    modelMs: 0,
    environmentMs: 0,
    retries: 0,
    attempt: 1,
    replacedBy: null,
    initialObservation: '',
    initialAdmissible: null,
    error: null,
    startedAt: begun.startedAt,
    finishedAt: null,
  };
}

/**
 * One more step of `episode`, whose totals it is added to.
 *
 * @param taken `truncated`: the world or a limit of the loop ends the episode here
 */
export function recordStep(
  episode: Episode,
  taken: {
    decision: Decision;
    action: string;
    outcome: StepOutcome;
    truncated: boolean;
    modelMs: number;
    environmentMs: number;
    createdAt: number;
  },
): Step {
  const { decision, action, outcome, modelMs, environmentMs } = taken;
  const { answer, completion, tokens, promptHash } = decision;
  const stepIndex = episode.steps;
  episode.steps += 1;
  episode.totalReward += outcome.reward;
  episode.success ||= outcome.success;
  episode.invalidActions += outcome.valid ? 0 : 1;
  episode.parseFailures += answer.status === 'ok' ? 0 : 1;
  episode.promptTokens += decision.promptTokens;
  episode.evaluatedPromptTokens += tokens?.evaluatedPromptTokens ?? 0;
  episode.completionTokens += decision.completionTokens;
  episode.modelMs += modelMs;
  episode.environmentMs += environmentMs;
  return {
    episodeId: episode.episodeId,
    stepIndex,
    promptHash,
    tokens,
    completion,
    thought: answer.thought,
    action,
    parseStatus: answer.status,
    valid: outcome.valid,
    observation: outcome.observation.text,
    admissible: outcome.observation.admissible === null ? null : [...outcome.observation.admissible],
    observationHash: observationHash(outcome.observation),
    reward: outcome.reward,
    terminated: outcome.terminated,
    truncated: taken.truncated,
    error: null,
    modelMs,
    environmentMs,
    createdAt: taken.createdAt,
  };
}
