/**
 * The starter model's chat format: `<|role|>content<|end|>` for each message, without white space between, so a turn costs two
 * tokens. `encodeConversation` gives the very ids that the inference worker makes of the template (its test proves it).
 */
import { beginId, endToken, roleTokens } from '#core/starter/tokenizer.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export const chatTemplate =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

export interface EncodedConversation {
  /** `<s>` first. */
  ids: number[];
  /** One a message: ids[start, end) is what its author writes, its `<|end|>` included, its role token not. */
  spans: { start: number; end: number }[];
}

export function encodeConversation(
  messages: readonly ChatMessage[],
  tokenizer: Tokenizer,
  options: { generationPrompt?: boolean } = {},
): EncodedConversation {
  const end = tokenizer.idOf(endToken);
  const ids = [beginId];
  const spans = messages.map(({ role, content }) => {
    ids.push(tokenizer.idOf(roleTokens[role]));
    const start = ids.length;
    for (const id of tokenizer.encode(content)) ids.push(id);
    ids.push(end);
    return { start, end: ids.length };
  });
  if (options.generationPrompt === true) ids.push(tokenizer.idOf(roleTokens.assistant));
  return { ids, spans };
}
