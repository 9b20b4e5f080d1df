/**
 * How the models of a run are loaded. Branching and reflection ask for the same, so that one model in both roles is loaded once.
 */
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import type { ModelNeeds } from '#core/agents/index.ts';
import { TEMPLATE_ROOM } from '#core/agents/index.ts';
import { IWM_EXTRA, writesReflections } from '#core/early-experience/profile.ts';

/** Samples in the request of one state, for each method; 0 where its alternatives are not the policy's. */
export function samplesOf({ branching: { iwm, sr } }: EarlyExperienceRun): { iwm: number; sr: number } {
  return {
    iwm: iwm.enabled && iwm.sampler === 'policy' ? iwm.k + IWM_EXTRA : 0,
    sr: sr.enabled && sr.sampler === 'policy' ? sr.k + sr.extra : 0,
  };
}

/** One conversation for each episode under way, and spare ones for the samples of a state. */
export function modelNeeds(run: EarlyExperienceRun, demonstrations: number): ModelNeeds {
  const { iwm, sr } = samplesOf(run);
  const answer = Math.max(run.policy.maxTokens, writesReflections(run) ? run.reflection.maxTokens : 0);
  return {
    contextTokens: run.limits.maxPromptTokens + answer + TEMPLATE_ROOM,
    parallel: Math.max(1, Math.min(run.parallel, demonstrations)) + Math.max(1, iwm, sr) - 1,
  };
}
