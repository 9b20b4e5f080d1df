/** What a reference in a run names: a model id, the place of a known model, or a name that only one model has. */
import type { Model } from '#shared/schema/model.ts';

/** Among the models that the store knows; null where none is meant, or a name could mean several. */
export function findModel(models: readonly Model[], reference: string): Model | null {
  const known =
    models.find(({ modelId }) => modelId === reference) ??
    models.find(({ location }) => location === reference);
  if (known !== undefined) return known;
  const [named, another] = models.filter(({ name }) => name === reference);
  return another === undefined ? (named ?? null) : null;
}
