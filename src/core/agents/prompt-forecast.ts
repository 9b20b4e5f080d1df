/**
 * Whether an append-only conversation can hold the steps of a run, told before it starts. The texts are those that the policy will
 * really be shown: a few of the very tasks are walked along the expert's path, and what lies beyond its end is taken to be as long
 * as what was seen. No model is loaded, so characters stand for tokens: 2.48 to 3.34 of them made a token in household conversations, over
 * eleven vocabularies (docs/log.md).
 */
import { isInfrastructureError, toAppError } from '#shared/errors.ts';
import type { Observation, Task } from '#shared/schema/environment.ts';
import type { Policy } from '#shared/schema/policy.ts';
import type { RolloutRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { ModelMessage } from '#core/llm/port.ts';
import { formatAnswer } from '#core/agents/answer.ts';
import type { Turn } from '#core/agents/prompt.ts';
import { agentMessages } from '#core/agents/prompt.ts';
import { createMemory } from '#core/agents/remember.ts';
import { countTasks, selectTasks } from '#core/agents/select-tasks.ts';

const sampledTasks = 2;
const mostCharactersAToken = 3.5;
const fewestCharactersAToken = 2.4;
/** What a chat template puts around a message, about. */
const templateTokensAMessage = 8;
/** verl-agent's, as in the presets. */
const windowSteps = 2;

/** All of a policy that shapes the texts of a walk. */
type Style = Pick<Policy, 'prompt' | 'thought'>;

interface Walk {
  /** Steps walked; at least one. */
  steps: number;
  /** Of the conversation before the first and before the last of them. */
  first: readonly ModelMessage[];
  last: readonly ModelMessage[];
  /** The longest prompt of a windowed policy on the way. */
  windowed: number;
}

export interface PromptShortage {
  message: string;
  /** Tokens of the conversation at its last step, at the least. */
  neededTokens: number;
  /** How many of the steps the limit holds, at the most. */
  fittingSteps: number;
}

const charactersOf = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, { content }) => sum + content.length, 0);

async function walk(
  provider: EnvironmentProvider,
  task: Task,
  { style, maxSteps, signal }: { style: Style; maxSteps: number; signal: AbortSignal | undefined },
): Promise<Walk | null> {
  const { actionGuide } = provider.describe();
  const session = await provider.open({ taskId: task.taskId, seed: 1, signal });
  const history: Turn[] = [];
  const prompt = (observation: Observation, shown: Policy['history']) =>
    agentMessages(
      { instruction: task.instruction, actionGuide, history, observation },
      { history: shown, style: style.prompt, thought: style.thought, fewShot: false },
    );
  try {
    let observation = await session.reset({ signal });
    const first = prompt(observation, { style: 'append' });
    let last = first;
    let windowed = 0;
    while (history.length < maxSteps) {
      signal?.throwIfAborted();
      const action = await session.solve();
      if (action === null) break;
      last = prompt(observation, { style: 'append' });
      windowed = Math.max(
        windowed,
        charactersOf(prompt(observation, { style: 'window', steps: windowSteps })),
      );
      const outcome = await session.step(action, { signal });
      history.push({
        observation,
        answer: formatAnswer({ thought: null, action }),
        action,
        parseStatus: 'ok',
      });
      observation = outcome.observation;
      if (outcome.terminated || outcome.truncated) break;
    }
    return history.length < 2 ? null : { steps: history.length, first, last, windowed };
  } finally {
    await session.close();
  }
}

const remembered = createMemory<readonly Walk[]>();

async function walkAll(
  provider: EnvironmentProvider,
  tasks: readonly Task[],
  options: { style: Style; maxSteps: number; signal: AbortSignal | undefined },
): Promise<Walk[]> {
  const walks: Walk[] = [];
  for (const task of tasks) {
    const walked = await walk(provider, task, options).catch((thrown: unknown) => {
      // A world that breaks here is the run's to report, with the episode that it breaks.
      if (isInfrastructureError(toAppError(thrown).code)) return null;
      throw thrown;
    });
    if (walked !== null) walks.push(walked);
  }
  return walks;
}

/** Tokens before step `steps` (from 1), by what each step of the walk added on average. */
function tokensAt({ steps: walked, first, last }: Walk, steps: number, charactersAToken: number): number {
  const start = charactersOf(first);
  const eachStep = (charactersOf(last) - start) / (walked - 1);
  const messages = first.length + 2 * (steps - 1);
  return (start + eachStep * (steps - 1)) / charactersAToken + templateTokensAMessage * messages;
}

/** @returns null where the steps fit, or it cannot be told: windowed prompts, no prompt at all, no expert to walk behind */
export async function promptShortage(
  provider: EnvironmentProvider,
  { environment, policy, limits, seed }: RolloutRun,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<PromptShortage | null> {
  const description = provider.describe();
  if (policy.history.style !== 'append' || policy.model === 'scripted:expert') return null;
  if (description.expert !== 'solver') return null;
  if (countTasks(provider, environment) === 0) return null;
  const maxSteps = Math.min(limits.maxSteps ?? description.maxSteps, description.maxSteps);
  const selection = { ...environment, tasks: Math.min(environment.tasks, sampledTasks) };
  const style: Style = { prompt: policy.prompt, thought: policy.thought };
  const key = JSON.stringify([selection, seed, style, maxSteps]);
  const walks = await remembered(provider, key, () =>
    walkAll(provider, selectTasks(provider, selection, seed), { style, maxSteps, signal }),
  );
  const needed = (one: Walk, steps: number) => tokensAt(one, steps, mostCharactersAToken);
  // The task with the shortest texts decides: where it does not fit, none does.
  const [shortest] = walks.toSorted((a, b) => needed(a, maxSteps) - needed(b, maxSteps));
  if (shortest === undefined) return null;
  const neededTokens = Math.round(needed(shortest, maxSteps));
  if (neededTokens <= limits.maxPromptTokens) return null;
  let fittingSteps = 0;
  while (needed(shortest, fittingSteps + 1) <= limits.maxPromptTokens) fittingSteps += 1;
  const texts = Math.max(...walks.map((one) => tokensAt(one, maxSteps, fewestCharactersAToken)));
  const holdsAll = Math.ceil((texts + maxSteps * policy.maxTokens) / 1024) * 1024;
  const windowed = Math.max(...walks.map((one) => one.windowed)) / fewestCharactersAToken;
  const fits = [
    ...(windowed + 2 * templateTokensAMessage <= limits.maxPromptTokens
      ? [`policy.history={style: window, steps: ${String(windowSteps)}} at the same limit`]
      : []),
    `limits.maxPromptTokens=${String(holdsAll)}, which holds them even if every answer is policy.maxTokens long`,
  ];
  return {
    neededTokens,
    fittingSteps,
    message:
      `An append-only conversation of ${String(maxSteps)} steps needs about ${String(neededTokens)} tokens with answers of a few words; ` +
      `limits.maxPromptTokens is ${String(limits.maxPromptTokens)}, which holds at most about ${String(fittingSteps)} steps. Longer episodes end with \`token-limit\`. ` +
      `What fits: ${fits.join('; or ')}.`,
  };
}
