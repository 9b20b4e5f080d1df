/** How a model is prompted in a role: the one answer for who loads it and for who writes rows that it is trained on. */
import type { Model, PromptFormat } from '#shared/schema/model.ts';

/** `chat` of what is unknown: a file that is gone tells no template. A server and a script are prompted in one way only. */
export function promptFormat(
  model: Pick<Model, 'kind' | 'facts'> | null,
  wanted: PromptFormat,
): 'chat' | 'completion' {
  if (model !== null && model.kind !== 'gguf') return 'chat';
  if (wanted !== 'auto') return wanted;
  return model?.facts?.hasChatTemplate === false ? 'completion' : 'chat';
}
