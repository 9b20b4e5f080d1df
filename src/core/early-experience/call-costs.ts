/** What requests to a model cost. Counted with what is committed, so that work done again after a failure counts once. */
import type { GenerateResult } from '#core/llm/port.ts';

export interface CallCosts {
  /** For the characters-per-token estimate: of the prompts whose tokens were told. */
  promptCharacters: number;
  promptTokens: number;
  /** 0, like the counts below and above it, where the server does not tell. */
  evaluatedPromptTokens: number;
  completionTokens: number;
}

export const NO_COSTS: CallCosts = {
  promptCharacters: 0,
  promptTokens: 0,
  evaluatedPromptTokens: 0,
  completionTokens: 0,
};

export function costsOf(result: GenerateResult): CallCosts {
  return {
    promptCharacters: result.promptLength === 0 ? 0 : result.prompt.length,
    promptTokens: result.promptLength,
    evaluatedPromptTokens: result.evaluatedPromptTokens,
    completionTokens: result.completionLength,
  };
}

/** As a result tells them: null where a model was asked and its server did not count. */
export function toldCosts(totals: CallCosts, asked: boolean) {
  const told = (count: number): number | null => (asked && count === 0 ? null : count);
  return { promptTokens: told(totals.promptTokens), completionTokens: told(totals.completionTokens) };
}

export function addCosts(totals: CallCosts, costs: CallCosts): void {
  totals.promptCharacters += costs.promptCharacters;
  totals.promptTokens += costs.promptTokens;
  totals.evaluatedPromptTokens += costs.evaluatedPromptTokens;
  totals.completionTokens += costs.completionTokens;
}
