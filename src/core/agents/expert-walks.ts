/** How long the prompts of a policy are along the expert's path, in a few of a run's very tasks, by the builder that acting and rows use. */
import { isInfrastructureError, toAppError } from '#shared/errors.ts';
import type { Observation, Task } from '#shared/schema/environment.ts';
import type { History, Policy } from '#shared/schema/policy.ts';
import type { RolloutRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { formatAnswer } from '#core/agents/answer.ts';
import type { Turn } from '#core/agents/prompt.ts';
import { agentMessages } from '#core/agents/prompt.ts';
import { createMemory } from '#core/agents/remember.ts';
import { countTasks, selectTasks } from '#core/agents/select-tasks.ts';

const sampledTasks = 2;
/** verl-agent's, as in the presets. */
export const windowSteps = 2;

export interface PromptSize {
  /** All messages together. */
  characters: number;
  messages: number;
}

/** One size a step before which the policy is asked; at least two steps. */
export interface Walk {
  append: PromptSize[];
  window: PromptSize[];
  /** With the policy's own history. */
  own: PromptSize[];
}

/** All of a policy that shapes the texts of a walk. */
type Style = Pick<Policy, 'prompt' | 'thought' | 'history'> & { fewShot: boolean };

async function walk(
  provider: EnvironmentProvider,
  task: Task,
  { style, maxSteps, signal }: { style: Style; maxSteps: number; signal: AbortSignal | undefined },
): Promise<Walk | null> {
  const { actionGuide } = provider.describe();
  const session = await provider.open({ taskId: task.taskId, seed: 1, signal });
  const turns: Turn[] = [];
  const size = (observation: Observation, history: History): PromptSize => {
    const messages = agentMessages(
      { instruction: task.instruction, actionGuide, history: turns, observation },
      { history, style: style.prompt, thought: style.thought, fewShot: style.fewShot },
    );
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
    return { characters, messages: messages.length };
  };
  const walked: Walk = { append: [], window: [], own: [] };
  try {
    let observation = await session.reset({ signal });
    while (turns.length < maxSteps) {
      signal?.throwIfAborted();
      const action = await session.solve();
      if (action === null) break;
      walked.append.push(size(observation, { style: 'append' }));
      walked.window.push(size(observation, { style: 'window', steps: windowSteps }));
      walked.own.push(size(observation, style.history));
      const outcome = await session.step(action, { signal });
      turns.push({ observation, answer: formatAnswer({ thought: null, action }), action, parseStatus: 'ok' });
      observation = outcome.observation;
      if (outcome.terminated || outcome.truncated) break;
    }
    return turns.length < 2 ? null : walked;
  } finally {
    await session.close();
  }
}

const remembered = createMemory<readonly Walk[]>();

/** @returns empty where there is no solver to walk behind, or no task */
export async function expertWalks(
  provider: EnvironmentProvider,
  { environment, policy, limits, seed }: Pick<RolloutRun, 'environment' | 'policy' | 'limits' | 'seed'>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<readonly Walk[]> {
  const description = provider.describe();
  if (description.expert !== 'solver' || countTasks(provider, environment) === 0) return [];
  const maxSteps = Math.min(limits.maxSteps ?? description.maxSteps, description.maxSteps);
  const selection = { ...environment, tasks: Math.min(environment.tasks, sampledTasks) };
  const { prompt, thought, history, format } = policy;
  // `auto` is settled when the model is loaded; the shorter prompt is the one that surely needs no more.
  const style: Style = { prompt, thought, history, fewShot: format === 'completion' };
  return remembered(provider, JSON.stringify([selection, seed, style, maxSteps]), async () => {
    const walks: Walk[] = [];
    for (const task of selectTasks(provider, selection, seed)) {
      const walked = await walk(provider, task, { style, maxSteps, signal }).catch((thrown: unknown) => {
        // A world that breaks here is the run's to report, with the episode that it breaks.
        if (isInfrastructureError(toAppError(thrown).code)) return null;
        throw thrown;
      });
      if (walked !== null) walks.push(walked);
    }
    return walks;
  });
}
