/**
 * How the models of a run are loaded. Branching and reflection ask for the same, so that one model in both roles is loaded once.
 */
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { TEMPLATE_ROOM } from '#core/agents/index.ts';

/** Proposals beyond K for an IWM set that comes from the policy; SR has its own setting. */
export const IWM_EXTRA = 2;

/** Tokens a conversation, and conversations decoded together: one an episode, and spare ones for the samples of a state. */
export function modelNeeds(
  run: EarlyExperienceRun,
  demonstrations: number,
): { contextTokens: number; parallel: number } {
  const { iwm, sr } = run.branching;
  const samples = Math.max(
    1,
    iwm.enabled && iwm.sampler === 'policy' ? iwm.k + IWM_EXTRA : 0,
    sr.enabled && sr.sampler === 'policy' ? sr.k + (sr.proposals === 'one-request' ? sr.extra : 0) : 0,
  );
  const answer = Math.max(run.policy.maxTokens, run.reflection.enabled ? run.reflection.maxTokens : 0);
  return {
    contextTokens: run.limits.maxPromptTokens + answer + TEMPLATE_ROOM,
    parallel: Math.max(1, Math.min(run.parallel, demonstrations)) + samples - 1,
  };
}
