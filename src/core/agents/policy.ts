/**
 * Who decides the next action: a model or the environment's own expert. The loop does not know which.
 */
import path from 'node:path';
import { AppError } from '#shared/errors.ts';
import type { ModelId, Sha256 } from '#shared/ids.ts';
import type { PolicyFacts, StepTokens } from '#shared/schema/episode.ts';
import type { Policy } from '#shared/schema/policy.ts';
import type { EnvironmentSession } from '#core/environments/port.ts';
import type { ChatModel, GenerateRequest } from '#core/llm/port.ts';
import type { Answer } from '#core/agents/answer.ts';
import { parseAnswer } from '#core/agents/answer.ts';
import { actionGrammar } from '#core/agents/grammar.ts';
import { sha256 } from '#core/agents/hash.ts';
import type { AgentState, PromptSettings } from '#core/agents/prompt.ts';
import { agentMessages } from '#core/agents/prompt.ts';
import { promptDelta } from '#core/agents/tokens.ts';

export interface Decision {
  answer: Answer;
  /** The raw text; null where no model was asked. */
  completion: string | null;
  tokens: StepTokens | null;
  promptHash: Sha256 | null;
  /** All tokens of the call's prompt; 0 where the server does not tell. */
  promptTokens: number;
  /** What the call wrote; 0 where the server does not tell. */
  completionTokens: number;
}

/** One episode's mind. `decide` is called once a step, in order. */
export interface Actor {
  /**
   * null: it has nothing more to do, and the episode ends.
   *
   * @throws AppError MODEL_PROMPT_LIMIT, MODEL_CONTEXT_FULL where the conversation is too long
   */
  decide(
    state: AgentState,
    options: { stepIndex: number; session: EnvironmentSession; signal: AbortSignal },
  ): Promise<Decision | null>;
  /** Lets go of what the model keeps for this episode. */
  end(): Promise<void>;
}

export interface AgentPolicy {
  readonly label: string;
  readonly facts: PolicyFacts;
  /** true: steps are worth storing one by one, because each costs a model call. */
  readonly expensive: boolean;
  actor(options: { episodeId: string; seed: number; maxPromptTokens: number }): Actor;
}

/** Ends the answer; the matched text stays in it, so tokens and text agree. */
export const ACTION_STOP = ['</action>'];

export function promptSettings(
  policy: Pick<Policy, 'history' | 'prompt' | 'thought'>,
  format: 'chat' | 'completion',
): PromptSettings {
  return {
    history: policy.history,
    style: policy.prompt,
    thought: policy.thought,
    fewShot: format === 'completion',
  };
}

/** Policies that read no prompt: the environment's expert, and chance. */
export const modelless: ReadonlySet<string> = new Set(['scripted:expert', 'scripted:random']);

/** The episode's own conversation with the model: prompt, call, parse, ids. */
export function modelPolicy(
  model: ChatModel,
  policy: Policy,
): AgentPolicy & { readonly settings: PromptSettings } {
  const settings = promptSettings(policy, model.info.format);
  const { modelId, sha256: modelSha256, name } = model.info.model;
  return {
    label: [name, ...policy.adapters.map((adapter) => path.basename(adapter.path, '.gguf'))].join(' + '),
    expensive: true,
    settings,
    facts: modelFacts(model, policy, modelId, modelSha256),
    actor({ episodeId, seed, maxPromptTokens }) {
      let previous: number[] = [];
      return {
        async decide(state, { stepIndex, signal }) {
          const request: GenerateRequest = {
            messages: agentMessages(state, settings),
            sessionKey: episodeId,
            n: 1,
            sampling: policy.sampling,
            seed: (seed + stepIndex) & 0x7fffffff,
            maxTokens: policy.maxTokens,
            maxPromptTokens,
            stop: ACTION_STOP,
            format: policy.format,
            admissible: state.observation.admissible ?? [],
            ...(policy.actionGrammar
              ? {
                  grammar: actionGrammar({
                    admissible: state.observation.admissible,
                    thought: policy.thought,
                    maxTokens: policy.maxTokens,
                  }),
                }
              : {}),
          };
          const result = await model.generate(request, { signal });
          const generation = result.generations[0];
          if (generation === undefined) {
            throw new AppError({
              code: 'MODEL_CRASHED',
              message: `${name} returned no text for step ${String(stepIndex)}. The episode is started again.`,
            });
          }
          const tokens: StepTokens = {
            ...promptDelta(previous, result.promptTokens),
            completionTokens: generation.tokens,
            logprobs: generation.logprobs,
            evaluatedPromptTokens: result.evaluatedPromptTokens,
          };
          previous = [...result.promptTokens, ...generation.tokens];
          return {
            answer: parseAnswer(generation.text),
            completion: generation.text,
            tokens,
            promptHash: sha256(result.prompt),
            promptTokens: result.promptLength,
            completionTokens: result.completionLength,
          };
        },
        end: () => model.endSession(episodeId),
      };
    },
  };
}

function modelFacts(
  model: ChatModel,
  policy: Policy,
  modelId: ModelId,
  modelSha256: Sha256 | null,
): PolicyFacts {
  return {
    kind: model.info.model.kind === 'scripted' ? 'scripted' : 'model',
    modelId,
    modelSha256,
    adapterSha256: model.info.adapterSha256,
    chatTemplateHash: model.info.chatTemplateHash,
    settings: {
      history: policy.history,
      // Absent means full, so that episodes of before there was a choice keep their identity.
      ...(policy.prompt === 'full' ? {} : { prompt: policy.prompt }),
      thought: policy.thought,
      actionGrammar: policy.actionGrammar,
      sampling: policy.sampling,
      maxTokens: policy.maxTokens,
      format: model.info.format,
    },
  };
}

/** The environment's expert. Fails as ENVIRONMENT_CRASHED where it has no answer: that is the environment's broken promise. */
export function solverPolicy(label = 'solver'): AgentPolicy {
  return {
    label,
    expensive: false,
    facts: plainFacts('solver'),
    actor: () => ({
      async decide(state, { session, stepIndex }) {
        const action = await session.solve();
        if (action === null) {
          throw new AppError({
            code: 'ENVIRONMENT_CRASHED',
            message: `The solver has no action at step ${String(stepIndex)} of task ${session.task.taskId} (${state.instruction}). The episode was dropped.`,
          });
        }
        return plainDecision(action);
      },
      end: () => Promise.resolve(),
    }),
  };
}

/** What a person, the expert or a list decides: an action, without prompt and tokens. */
export function plainDecision(action: string, thought: string | null = null): Decision {
  return {
    answer: { status: action === '' ? 'no-action' : 'ok', thought, action },
    completion: null,
    tokens: null,
    promptHash: null,
    promptTokens: 0,
    completionTokens: 0,
  };
}

export function plainFacts(kind: PolicyFacts['kind'], settings: PolicyFacts['settings'] = {}): PolicyFacts {
  return { kind, modelId: null, modelSha256: null, adapterSha256: [], chatTemplateHash: null, settings };
}
