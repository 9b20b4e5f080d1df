/** The two ways in which a conversation is too long to answer: the caller's limit for prompts, and the model's context. Tokens. */
import { AppError } from '#shared/errors.ts';

/** The prompt passes the limit of the one who asks; the model could have read it. */
export function promptOverLimit(tokens: number, maxPromptTokens: number): AppError {
  return new AppError({
    code: 'MODEL_PROMPT_LIMIT',
    message: `The prompt has ${String(tokens)} tokens, more than the limit of ${String(maxPromptTokens)}. What was done before is kept. Raise limits.maxPromptTokens, shorten the history, or allow fewer steps.`,
    data: { tokens, maxPromptTokens },
  });
}

export function contextFull(tokens: number, contextTokens: number): AppError {
  return new AppError({
    code: 'MODEL_CONTEXT_FULL',
    message:
      `The conversation has ${String(tokens)} tokens, but the model was loaded with a context of ${String(contextTokens)}. Nothing was generated. ` +
      'Load it with a larger context, shorten the history, or allow fewer steps.',
    data: { tokens, contextTokens },
  });
}
