/** How a model is prompted where nobody says it: the starter as it was trained, one with a short context compactly, any other in full. */
import type { Model } from '#shared/schema/model.ts';
import { limitsSchema } from '#shared/schema/run.ts';
import { starterName } from '#core/app.ts';

export interface PromptDefault {
  prompt: 'full' | 'compact';
  thought: boolean;
  /** Tokens. */
  maxPromptTokens: number;
}

/** @param model null for a scripted one */
export function promptDefault(model: Model | null, { maxTokens }: { maxTokens: number }): PromptDefault {
  const { maxPromptTokens } = limitsSchema.parse({});
  const context = model?.facts?.contextLength ?? 0;
  const isStarter = model?.name === starterName;
  const short = context > 0 && context < maxPromptTokens + maxTokens;
  return {
    prompt: isStarter || short ? 'compact' : 'full',
    thought: !isStarter,
    maxPromptTokens: short ? Math.max(64, context - maxTokens) : maxPromptTokens,
  };
}
