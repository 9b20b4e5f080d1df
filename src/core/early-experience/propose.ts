/**
 * K proposals of the policy in one state: one request with n samples, so the prompt is evaluated once for all of them. The
 * conversation is the demonstration's, in the very format in which the policy acts.
 */
import { AppError } from '#shared/errors.ts';
import type { Policy } from '#shared/schema/policy.ts';
import type { ChatModel, GenerateRequest, GenerateResult, Generation } from '#core/llm/port.ts';
import type { AgentState, PromptSettings } from '#core/agents/index.ts';
import { ACTION_STOP, actionGrammar, agentMessages, parseAnswer } from '#core/agents/index.ts';
import type { CallCosts } from '#core/early-experience/call-costs.ts';
import { costsOf, NO_COSTS } from '#core/early-experience/call-costs.ts';

export interface Proposal extends Generation {
  /** Empty where the answer held no readable action. */
  action: string;
}

export interface Proposals extends CallCosts {
  proposals: Proposal[];
  /** The prompt does not fit the model's context: nothing was proposed. */
  tooLong: boolean;
}

export interface Proposer {
  model: ChatModel;
  policy: Policy;
  settings: PromptSettings;
}

export async function proposeActions(
  { model, policy, settings }: Proposer,
  state: AgentState,
  options: { n: number; temperature: number; seed: number; sessionKey: string; signal: AbortSignal },
): Promise<Proposals> {
  const grammar = policy.actionGrammar
    ? {
        grammar: actionGrammar({
          admissible: state.observation.admissible,
          thought: policy.thought,
          maxTokens: policy.maxTokens,
        }),
      }
    : {};
  const result = await generateUnlessTooLong(
    model,
    {
      messages: agentMessages(state, settings),
      sessionKey: options.sessionKey,
      n: options.n,
      sampling: { ...policy.sampling, temperature: options.temperature },
      seed: options.seed,
      maxTokens: policy.maxTokens,
      stop: ACTION_STOP,
      format: policy.format,
      admissible: state.observation.admissible ?? [],
      ...grammar,
    },
    options.signal,
  );
  if (result === null) return { ...NO_COSTS, proposals: [], tooLong: true };
  return {
    proposals: result.generations.map((generation) => ({
      ...generation,
      action: parseAnswer(generation.text).action,
    })),
    ...costsOf(result),
    tooLong: false,
  };
}

async function generateUnlessTooLong(
  model: ChatModel,
  request: GenerateRequest,
  signal: AbortSignal,
): Promise<GenerateResult | null> {
  try {
    return await model.generate(request, { signal });
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'MODEL_CONTEXT_FULL') return null;
    throw thrown;
  }
}
