/** Whether the prompts of a run's expert states fit its limit, told before it starts: proposals and rows are made of them. */
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { statePromptShortage } from '#core/agents/index.ts';
import { writesReflections } from '#core/early-experience/profile.ts';

export function expertPromptShortage(
  provider: EnvironmentProvider,
  run: EarlyExperienceRun,
  options: { contextTokens?: number | undefined; signal?: AbortSignal | undefined } = {},
) {
  const policy = { ...run.policy, thought: run.policy.thought || writesReflections(run) };
  return statePromptShortage(provider, { ...run, policy }, options);
}
