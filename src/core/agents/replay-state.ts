/** The state of any step of a stored episode, as the policy saw it: for training rows, proposals and the prompt viewer. */
import { AppError } from '#shared/errors.ts';
import type { Observation } from '#shared/schema/environment.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import { formatAnswer } from '#core/agents/answer.ts';
import type { AgentState, Turn } from '#core/agents/prompt.ts';

/** s_t: the observation that was shown before step t. */
export function observationBefore(
  episode: Pick<Episode, 'initialObservation' | 'initialAdmissible' | 'episodeId'>,
  steps: readonly Pick<Step, 'observation' | 'admissible'>[],
  stepIndex: number,
): Observation {
  if (stepIndex === 0)
    return { text: episode.initialObservation, admissible: copy(episode.initialAdmissible) };
  const previous = steps[stepIndex - 1];
  if (previous === undefined) {
    throw new AppError({
      code: 'NOT_FOUND',
      message: `Episode ${episode.episodeId} has no step ${String(stepIndex - 1)}; it has ${String(steps.length)}.`,
    });
  }
  return { text: previous.observation, admissible: copy(previous.admissible) };
}

/** New objects throughout, so that two rows never share a list (a shared one once doubled the text of 8,677 records). */
export function stateAt(
  episode: Episode,
  steps: readonly Step[],
  stepIndex: number,
  options: { actionGuide: string; placeholderThought?: string | null },
): AgentState {
  const history = steps.slice(0, stepIndex).map((step, index): Turn => {
    const ids = step.tokens?.completionTokens ?? [];
    return {
      observation: observationBefore(episode, steps, index),
      answer: step.completion ?? expertAnswer(step, options.placeholderThought ?? null),
      action: step.action,
      parseStatus: step.parseStatus,
      ...(ids.length > 0 ? { tokens: [...ids] } : {}),
    };
  });
  return {
    instruction: episode.instruction,
    actionGuide: options.actionGuide,
    history,
    observation: observationBefore(episode, steps, stepIndex),
  };
}

/** How a step that no model wrote reads as an assistant message: its own thought where it has one, else the placeholder. */
export function expertAnswer(
  step: Pick<Step, 'action' | 'thought'>,
  placeholderThought: string | null,
): string {
  return formatAnswer({ thought: step.thought ?? placeholderThought, action: step.action });
}

function copy(list: readonly string[] | null): string[] | null {
  return list === null ? null : [...list];
}
