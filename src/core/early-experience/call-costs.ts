/** What requests to a model cost. Counted with what is committed, so that work done again after a failure counts once. */
import type { GenerateResult } from '#core/llm/port.ts';

export interface CallCosts {
  /** For the characters-per-token estimate: of the prompts whose tokens were told. */
  promptCharacters: number;
  promptTokens: number;
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
    completionTokens: result.generations.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}

export function addCosts(totals: CallCosts, costs: CallCosts): void {
  totals.promptCharacters += costs.promptCharacters;
  totals.promptTokens += costs.promptTokens;
  totals.evaluatedPromptTokens += costs.evaluatedPromptTokens;
  totals.completionTokens += costs.completionTokens;
}
