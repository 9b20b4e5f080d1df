/**
 * How long the next prompt will be, before it is asked. Message contents are counted once each by the model's own tokeniser, so
 * an append-only episode counts only what is new. A template's own text between messages is taken as a few tokens each.
 */
import type { ChatModel, ModelMessage } from '#core/llm/port.ts';

const TEMPLATE_TOKENS_A_MESSAGE = 8;

export class PromptMeter {
  readonly #model: Pick<ChatModel, 'tokenize'>;
  readonly #counted = new Map<string, number>();

  constructor(model: Pick<ChatModel, 'tokenize'>) {
    this.#model = model;
  }

  async measure(messages: readonly ModelMessage[], signal: AbortSignal): Promise<number> {
    let total = 0;
    for (const { content, tokens } of messages) {
      total += TEMPLATE_TOKENS_A_MESSAGE + (tokens?.length ?? (await this.#count(content, signal)));
    }
    return total;
  }

  async #count(content: string, signal: AbortSignal): Promise<number> {
    const known = this.#counted.get(content);
    if (known !== undefined) return known;
    const count = (await this.#model.tokenize(content, { signal })).length;
    this.#counted.set(content, count);
    return count;
  }
}
