/**
 * Token id → text, for reading stored prompts. The first look at a model's tokens loads it with the smallest context; what it said
 * is remembered, so browsing an episode does not load it again.
 */
import type { ModelId } from '#shared/ids.ts';
import type { Model } from '#shared/schema/model.ts';
import type { ModelService } from '#core/llm/port.ts';

const smallestContext = 256;

export class TokenTexts {
  readonly #models: ModelService;
  readonly #known = new Map<ModelId, Map<number, string>>();

  constructor(models: ModelService) {
    this.#models = models;
  }

  /** One text for each id. @throws AppError MODEL_… when the model cannot be loaded now */
  async of(model: Model, ids: readonly number[], signal: AbortSignal | undefined): Promise<string[]> {
    const known = this.#known.get(model.modelId) ?? new Map<number, string>();
    this.#known.set(model.modelId, known);
    const unknown = [...new Set(ids)].filter((id) => !known.has(id));
    if (unknown.length > 0) {
      const texts = await this.#ask(model, unknown, signal);
      for (const [index, id] of unknown.entries()) known.set(id, texts[index] ?? '');
    }
    return ids.map((id) => known.get(id) ?? '');
  }

  async #ask(model: Model, ids: readonly number[], signal: AbortSignal | undefined): Promise<string[]> {
    const loaded = await this.#models.load(model, {
      adapters: [],
      contextTokens: smallestContext,
      sequences: 1,
      threads: 1,
      format: 'auto',
      signal,
    });
    try {
      return await loaded.model.detokenize(ids, { signal });
    } finally {
      await loaded.release();
    }
  }
}
