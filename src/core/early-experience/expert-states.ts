/** D_expert (section 4): the pairs (s_i, a_i) of a demonstration that are worth learning from. */
import type { Sha256 } from '#shared/ids.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import type { AgentState } from '#core/agents/index.ts';
import { observationBefore, stateAt } from '#core/agents/index.ts';
import { observationHash } from '#core/environments/index.ts';

export interface Demonstration {
  episode: Episode;
  steps: Step[];
}

export interface ExpertState {
  stepIndex: number;
  expertAction: string;
  /** a_0 … a_{i−1} */
  prefix: string[];
  /** Observation hashes after each action of the prefix. */
  prefixHashes: Sha256[];
  /** Hash of s_i as the demonstration saw it: what every branch must see before it acts. */
  hash: Sha256;
  /** s_{i+1} of the demonstration. */
  outcome: Step;
  state: AgentState;
}

/** All states but those whose action the environment refused: an expert's slip is history, not a target. */
export function expertStates(
  { episode, steps }: Demonstration,
  options: { actionGuide: string; placeholderThought: string | null },
): ExpertState[] {
  return steps.flatMap((outcome, stepIndex) => {
    if (!outcome.valid) return [];
    const before = steps.slice(0, stepIndex);
    const state: ExpertState = {
      stepIndex,
      expertAction: outcome.action,
      prefix: before.map((step) => step.action),
      prefixHashes: before.map((step) => step.observationHash),
      hash: observationHash(observationBefore(episode, steps, stepIndex)),
      outcome,
      state: stateAt(episode, steps, stepIndex, options),
    };
    return [state];
  });
}

/** [R0] writes a placeholder into imitation targets whose expert left no reasoning; the paper leaves them as they are. */
export function placeholderThought(run: EarlyExperienceRun): string | null {
  return run.export.expertThought ? 'I carry on with the next step of the task.' : null;
}
