/**
 * What a reference in a run names: a model id, the place of a known model, or a name that only one model has; last, what its server
 * calls it, when only one model is called so.
 */
import type { Model } from '#shared/schema/model.ts';

/**
 * Among the models that the store knows; null where none is meant, or a name could mean several.
 * @param bundled where the application's own model lies: its name always means it
 */
export function findModel(models: readonly Model[], reference: string, bundled: string | null): Model | null {
  const known =
    models.find(({ modelId }) => modelId === reference) ??
    models.find(({ location }) => location === reference);
  if (known !== undefined) return known;
  const called = models.filter(({ name }) => name === reference);
  const [own] = called
    .filter(({ location }) => location === bundled)
    .toSorted((left, right) => right.addedAt - left.addedAt);
  if (own !== undefined) return own;
  const [named, another] =
    called.length > 0 ? called : models.filter((model) => model.remoteName === reference);
  return another === undefined ? (named ?? null) : null;
}
