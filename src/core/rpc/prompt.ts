/** Exactly what the model saw at a stored step: the messages rebuilt by the agents' own prompt builder, the ids as stored. */
import type { z } from 'zod';
import type { renderedPromptSchema } from '#shared/contract/episodes.ts';
import { toAppError } from '#shared/errors.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import { historySchema, promptStyleSchema } from '#shared/schema/policy.ts';
import { agentMessages, fullPromptTokens, stateAt } from '#core/agents/index.ts';
import type { PromptSettings } from '#core/agents/index.ts';
import type { ModelMessage } from '#core/llm/port.ts';
import type { RpcServices } from '#core/rpc/base.ts';

type RenderedPrompt = z.output<typeof renderedPromptSchema>;
type Token = NonNullable<RenderedPrompt['tokens']>[number];

/** Recorded with the episode, because it decided what was shown. */
function settingsOf(episode: Episode): PromptSettings {
  const { settings } = episode.policy;
  const stored =
    typeof settings === 'object' && settings !== null && !Array.isArray(settings) ? settings : {};
  return {
    history: historySchema.parse(stored['history']),
    style: promptStyleSchema.parse(stored['prompt']),
    thought: stored['thought'] !== false,
    fewShot: stored['format'] === 'completion',
  };
}

/** The guide is part of the environment's version; a removed environment leaves it empty and the caller is told. */
function actionGuide(app: RpcServices, episode: Episode): { guide: string; missing: string } {
  const provider = app.environments
    .list()
    .find((candidate) => candidate.describe().id === episode.environmentId);
  if (provider === undefined) {
    return {
      guide: '',
      missing: `The environment ${episode.environmentId} is not installed here, so its action guide is left out of the system message.`,
    };
  }
  const { version, actionGuide: guide } = provider.describe();
  const missing =
    version === episode.environmentVersion
      ? ''
      : `The episode was made with version ${episode.environmentVersion} of ${episode.environmentId}; the action guide shown is that of ${version}.`;
  return { guide, missing };
}

/** `isNew`: not in the prompt of the step before, at the same place. */
function markNew(messages: readonly ModelMessage[], before: readonly ModelMessage[]) {
  return messages.map(({ role, content }, index) => {
    const old = before[index];
    return { role, content, isNew: old === undefined || old.role !== role || old.content !== content };
  });
}

async function tokenTexts(
  app: RpcServices,
  episode: Episode,
  ids: readonly number[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { modelId } = episode.policy;
  const model = modelId === null ? null : app.store.models.get(modelId);
  if (model === null) throw new Error('the model of this episode is not known here any more');
  if (model.kind !== 'gguf') throw new Error('a server does not tell its token texts');
  return app.tokenTexts.of(model, ids, signal);
}

async function tokensOf(
  app: RpcServices,
  episode: Episode,
  steps: readonly Step[],
  step: Step,
  signal: AbortSignal | undefined,
): Promise<{ tokens: Token[] | null; missing: string }> {
  if (step.tokens === null) return { tokens: null, missing: 'No model was asked at this step.' };
  const prompt = fullPromptTokens(steps, step.stepIndex);
  const { completionTokens, logprobs } = step.tokens;
  if (prompt === null || completionTokens.length === 0) {
    return { tokens: null, missing: 'The server that answered does not tell token ids.' };
  }
  try {
    const texts = await tokenTexts(app, episode, [...prompt, ...completionTokens], signal);
    const tokens = [...prompt, ...completionTokens].map((id, index): Token => {
      const place = index - prompt.length;
      const part = place < 0 ? 'prompt' : 'completion';
      return { id, text: texts[index] ?? '', logprob: place < 0 ? null : (logprobs[place] ?? null), part };
    });
    return { tokens, missing: '' };
  } catch (thrown) {
    return { tokens: null, missing: `Token texts need the model: ${toAppError(thrown).message}` };
  }
}

export async function renderedPrompt(
  app: RpcServices,
  episode: Episode,
  step: Step,
  signal: AbortSignal | undefined,
): Promise<RenderedPrompt> {
  const steps = (await app.reader.episodes.steps(episode.episodeId)).slice(0, step.stepIndex + 1);
  const settings = settingsOf(episode);
  const { guide, missing } = actionGuide(app, episode);
  const at = (index: number) =>
    agentMessages(stateAt(episode, steps, index, { actionGuide: guide }), settings);
  const messages = at(step.stepIndex);
  const before = step.stepIndex === 0 ? [] : at(step.stepIndex - 1);
  const { tokens, missing: missingTokens } = await tokensOf(app, episode, steps, step, signal);
  return {
    messages: markNew(messages, before),
    tokens,
    missing: [missing, missingTokens].filter((reason) => reason !== '').join(' '),
  };
}
