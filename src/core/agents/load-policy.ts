/** From the run's `policy` to somebody who acts: loads the model, or asks the environment's expert for `scripted:expert`. */
import type { Limits } from '#shared/schema/run.ts';
import type { Policy, Role } from '#shared/schema/policy.ts';
import type { ChatModel, ModelService } from '#core/llm/port.ts';
import type { AgentPolicy } from '#core/agents/policy.ts';
import { modelPolicy, solverPolicy } from '#core/agents/policy.ts';

export interface LoadedPolicy {
  policy: AgentPolicy;
  /** null for the expert, which needs none. */
  model: ChatModel | null;
  release(): Promise<void>;
}

/** Room that a chat template takes beside prompt and answer. Tokens. */
export const TEMPLATE_ROOM = 64;

export interface ModelNeeds {
  /** Of each conversation: prompt, answer and the template's room. */
  contextTokens: number;
  /** Conversations decoded together. */
  parallel: number;
}

/** How a policy that acts is loaded; the estimate asks for the same before there is a job. */
export function actingNeeds(settings: Policy, limits: Limits, parallel: number): ModelNeeds {
  return { contextTokens: limits.maxPromptTokens + settings.maxTokens + TEMPLATE_ROOM, parallel };
}

/** @throws AppError MODEL_… when the model cannot be loaded */
export async function loadPolicy(
  models: ModelService,
  settings: Policy,
  options: { limits: Limits; parallel: number; threads: number; signal: AbortSignal },
): Promise<LoadedPolicy> {
  const release = (): Promise<void> => Promise.resolve();
  if (settings.model === 'scripted:expert')
    return { policy: solverPolicy('scripted:expert'), model: null, release };
  const loaded = await loadModel(models, settings, {
    ...actingNeeds(settings, options.limits, options.parallel),
    threads: options.threads,
    signal: options.signal,
  });
  return {
    policy: modelPolicy(loaded.model, settings),
    model: loaded.model,
    release: () => loaded.release(),
  };
}

/** A model in any role. */
export async function loadModel(
  models: ModelService,
  role: Pick<Role, 'model' | 'adapters' | 'format'>,
  options: ModelNeeds & { threads: number; signal: AbortSignal },
): Promise<{ model: ChatModel; release(): Promise<void> }> {
  return models.load(await models.resolve(role.model), {
    adapters: role.adapters,
    contextTokens: options.contextTokens,
    sequences: options.parallel,
    threads: options.threads,
    format: role.format,
    signal: options.signal,
  });
}
