/**
 * Whether an append-only conversation can hold the steps of a run, told before it starts. The texts are those that the policy will
 * really be shown: a few of the very tasks are walked along the expert's path, and what lies beyond its end is taken to be as long
 * as what was seen. No model is loaded, so characters stand for tokens: 2.48 to 3.34 of them made a token in household conversations, over
 * eleven vocabularies; 4.25 in compact ones with a vocabulary of the household’s own (docs/log.md).
 */
import type { Policy } from '#shared/schema/policy.ts';
import type { Limits, RolloutRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { PromptSize, Walk } from '#core/agents/expert-walks.ts';
import { expertWalks, windowSteps } from '#core/agents/expert-walks.ts';
import { modelless } from '#core/agents/policy.ts';

const mostCharactersAToken: Record<Policy['prompt'], number> = { full: 3.5, compact: 4.5 };
const fewestCharactersAToken = 2.4;
/** What a chat template puts around a message, at the least and about. */
const leastTemplateTokens = 4;
const templateTokensAMessage = 8;

export interface PromptShortage {
  message: string;
  /** Tokens of the conversation at its last step, at the least. */
  neededTokens: number;
  /** How many of the steps the limit holds, at the most. */
  fittingSteps: number;
}

/** Tokens of an append-only conversation before step `steps` (from 1), by what each step of the walk added on average. */
function tokensAt(
  { append }: Walk,
  steps: number,
  { charactersAToken, template }: { charactersAToken: number; template: number },
): number {
  const first = append[0] ?? { characters: 0, messages: 0 };
  const last = append.at(-1) ?? first;
  const eachStep = (last.characters - first.characters) / (append.length - 1);
  const messages = first.messages + 2 * (steps - 1);
  return (first.characters + eachStep * (steps - 1)) / charactersAToken + template * messages;
}

const leastTokens = ({ characters, messages }: PromptSize, style: Policy['prompt']): number =>
  Math.round(characters / mostCharactersAToken[style] + leastTemplateTokens * messages);
const mostTokens = ({ characters, messages }: PromptSize): number =>
  Math.ceil(characters / fewestCharactersAToken + templateTokensAMessage * messages);
const rounded = (tokens: number): string => String(Math.ceil(tokens / 256) * 256);

/** What a prompt must not outgrow, and what happens where it does. */
export interface PromptRoom {
  /** Of the longest prompt. */
  tokens: number;
  /** `model` where its context is full before the run's own limit is reached. */
  by: 'run' | 'model';
}

/** @param contextTokens that the model reads; 0 or left out where it is not known */
export function promptRoom(
  { maxPromptTokens }: Pick<Limits, 'maxPromptTokens'>,
  contextTokens = 0,
): PromptRoom {
  return contextTokens === 0 || maxPromptTokens < contextTokens
    ? { tokens: maxPromptTokens, by: 'run' }
    : { tokens: contextTokens - 1, by: 'model' };
}

const compactFits = 'policy.prompt=compact, whose prompts are a few times shorter';

interface ForecastOptions {
  contextTokens?: number | undefined;
  signal?: AbortSignal | undefined;
}

const roomWords = ({ tokens, by }: PromptRoom): string =>
  by === 'run'
    ? `limits.maxPromptTokens=${String(tokens)}`
    : `the ${String(tokens + 1)} tokens that the model reads`;

/**
 * Early Experience: which states of the expert's path have prompts that the limit does not hold. Nothing is extrapolated: its rows end
 * where the expert's path ends.
 *
 * @returns null where all fit, or it cannot be told: no solver to walk behind
 */
export async function statePromptShortage(
  provider: EnvironmentProvider,
  { environment, policy, limits, seed }: Pick<RolloutRun, 'environment' | 'policy' | 'limits' | 'seed'>,
  { contextTokens, signal }: ForecastOptions = {},
): Promise<{ message: string; states: number; tooLong: number } | null> {
  const room = promptRoom(limits, contextTokens);
  const walks = await expertWalks(provider, { environment, policy, limits, seed }, { signal });
  const sizes = walks.flatMap(({ own }) => own);
  const needs = sizes.map((size) => leastTokens(size, policy.prompt));
  const tooLong = needs.filter((tokens) => tokens > room.tokens).length;
  if (tooLong === 0) return null;
  const window = walks.flatMap((walk) => walk.window).map(mostTokens);
  const fits = [
    room.by === 'run'
      ? `limits.maxPromptTokens=${rounded(Math.max(...sizes.map(mostTokens)))}`
      : 'a model that reads more',
    ...(policy.prompt === 'compact' ? [] : [compactFits]),
    ...(policy.history.style === 'append' && Math.max(...window) <= room.tokens
      ? [`policy.history={style: window, steps: ${String(windowSteps)}} at the same limit`]
      : []),
  ];
  const end =
    room.by === 'model'
      ? 'there it can neither propose alternatives nor write reflections, and it cannot be trained on the rows.'
      : tooLong === sizes.length
        ? 'no expert row could be written, and the run would fail at its end.'
        : 'there the policy is not asked for alternatives, and the states’ rows are left out whole and counted.';
  return {
    states: sizes.length,
    tooLong,
    message:
      `${String(tooLong)} of ${String(sizes.length)} expert states in ${String(walks.length)} of the tasks have prompts longer than ${roomWords(room)} ` +
      `(the longest at least about ${String(Math.max(...needs))} tokens): ${end} What fits: ${fits.join('; or ')}.`,
  };
}

/** @returns null where the steps fit, or it cannot be told: windowed prompts, no prompt at all, no expert to walk behind */
export async function promptShortage(
  provider: EnvironmentProvider,
  { environment, policy, limits, seed }: RolloutRun,
  { contextTokens, signal }: ForecastOptions = {},
): Promise<PromptShortage | null> {
  const room = promptRoom(limits, contextTokens);
  const description = provider.describe();
  if (policy.history.style !== 'append' || modelless.has(policy.model)) return null;
  const maxSteps = Math.min(limits.maxSteps ?? description.maxSteps, description.maxSteps);
  const walks = await expertWalks(provider, { environment, policy, limits, seed }, { signal });
  const least = { charactersAToken: mostCharactersAToken[policy.prompt], template: leastTemplateTokens };
  const most = { charactersAToken: fewestCharactersAToken, template: templateTokensAMessage };
  const needed = (one: Walk, steps: number) => tokensAt(one, steps, least);
  // The task with the shortest texts decides: where it does not fit, none does.
  const [shortest] = walks.toSorted((a, b) => needed(a, maxSteps) - needed(b, maxSteps));
  if (shortest === undefined) return null;
  const neededTokens = Math.round(needed(shortest, maxSteps));
  if (neededTokens <= room.tokens) return null;
  let fittingSteps = 0;
  while (needed(shortest, fittingSteps + 1) <= room.tokens) fittingSteps += 1;
  const texts = Math.max(...walks.map((one) => tokensAt(one, maxSteps, most)));
  const holdsAll = Math.ceil((texts + maxSteps * policy.maxTokens) / 1024) * 1024;
  const windowed = Math.max(...walks.flatMap(({ window }) => window.map(mostTokens)));
  const fits = [
    ...(windowed <= room.tokens
      ? [`policy.history={style: window, steps: ${String(windowSteps)}} at the same limit`]
      : []),
    ...(contextTokens === undefined || contextTokens === 0 || holdsAll + policy.maxTokens <= contextTokens
      ? [
          `limits.maxPromptTokens=${String(holdsAll)}, which holds them even if every answer is policy.maxTokens long`,
        ]
      : []),
    ...(policy.prompt === 'compact' ? [] : [compactFits]),
    `limits.maxSteps=${String(Math.max(1, fittingSteps))}`,
  ];
  const holder =
    room.by === 'run'
      ? `limits.maxPromptTokens is ${String(room.tokens)}`
      : `the model reads ${String(room.tokens + 1)}`;
  const end = room.by === 'run' ? 'token-limit' : 'context-full';
  return {
    neededTokens,
    fittingSteps,
    message:
      `An append-only conversation of ${String(maxSteps)} steps needs about ${String(neededTokens)} tokens with answers of a few words; ` +
      `${holder}, which holds at most about ${String(fittingSteps)} steps. Longer episodes end with \`${end}\`. ` +
      `What fits: ${fits.join('; or ')}.`,
  };
}
