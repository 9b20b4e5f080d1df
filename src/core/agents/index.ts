/** Agents: what they are shown, how their answers are read, and the loop that lets them act. */
export { canonicalAction, distinctActions, matchAdmissible } from '#core/agents/actions.ts';
export { formatAnswer, parseAnswer } from '#core/agents/answer.ts';
export { closeAll } from '#core/agents/close-all.ts';
export { planId, runEpisode } from '#core/agents/episode-loop.ts';
export { newEpisode, recordStep } from '#core/agents/episode-record.ts';
export { actionGrammar } from '#core/agents/grammar.ts';
export { canonicalJson, identityHash, sha256 } from '#core/agents/hash.ts';
export { episodeIdOf, policyKeyOf, rolloutIndexOf } from '#core/agents/identity.ts';
export { tellingOfDeaths } from '#core/agents/interruptions.ts';
export { actingNeeds, loadModel, TEMPLATE_ROOM } from '#core/agents/load-policy.ts';
export type { ModelNeeds } from '#core/agents/load-policy.ts';
export {
  ACTION_STOP,
  modelless,
  plainDecision,
  plainFacts,
  promptSettings,
  solverPolicy,
} from '#core/agents/policy.ts';
export type { AgentPolicy } from '#core/agents/policy.ts';
export { runPool } from '#core/agents/pool.ts';
export { promptRoom, promptShortage, statePromptShortage } from '#core/agents/prompt-forecast.ts';
export { agentMessages, stateMessages } from '#core/agents/prompt.ts';
export type { AgentState, PromptSettings } from '#core/agents/prompt.ts';
export { randomOf, seedOf } from '#core/agents/random.ts';
export { expertAnswer, observationBefore, stateAt } from '#core/agents/replay-state.ts';
export { withDeadline } from '#core/agents/deadline.ts';
export { FailureStreak } from '#core/agents/failure-streak.ts';
export { withRetries } from '#core/agents/retry.ts';
export { createMemory } from '#core/agents/remember.ts';
export { createRolloutJob, runEpisodes } from '#core/agents/rollout-job.ts';
export { countTasks, selectTasks } from '#core/agents/select-tasks.ts';
export { fullPromptTokens } from '#core/agents/tokens.ts';
