/** Tokens in = tokens out, stored once: a step keeps only the prompt ids that the previous step does not already hold. */
import type { Step, StepTokens } from '#shared/schema/episode.ts';

/** Length of the longest common prefix. */
export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const limit = Math.min(a.length, b.length);
  for (let index = 0; index < limit; index += 1) {
    if (a[index] !== b[index]) return index;
  }
  return limit;
}

/** @param previous prompt + completion ids of the step before; empty at the first. */
export function promptDelta(
  previous: readonly number[],
  prompt: readonly number[],
): Pick<StepTokens, 'promptPrefixLength' | 'promptTokens'> {
  const promptPrefixLength = commonPrefix(previous, prompt);
  return { promptPrefixLength, promptTokens: prompt.slice(promptPrefixLength) };
}

/** The whole prompt of step `stepIndex`, put together again from the deltas; null where no ids were kept. */
export function fullPromptTokens(steps: readonly Pick<Step, 'tokens'>[], stepIndex: number): number[] | null {
  let previous: number[] = [];
  for (let index = 0; index <= stepIndex; index += 1) {
    const tokens = steps[index]?.tokens;
    if (tokens === undefined || tokens === null) return null;
    const prompt = [...previous.slice(0, tokens.promptPrefixLength), ...tokens.promptTokens];
    if (index === stepIndex) return prompt;
    previous = [...prompt, ...tokens.completionTokens];
  }
  return null;
}
