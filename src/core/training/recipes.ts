/**
 * Recipes of Early Experience (spec 1.6): stages run one after the other on the same weights.
 * IWM then IL is the paper's order; SR mixes reflections with the expert's rows.
 */
import type { DatasetPart } from '#shared/schema/dataset.ts';
import type { Recipe, Stage } from '#shared/schema/training.ts';

export function stagesOf(recipe: Recipe): Stage[] {
  const imitation: Stage = { name: 'il', parts: ['expert_sft'] };
  const world: Stage = { name: 'iwm', parts: ['iwm_sft'] };
  const reflection: Stage = { name: 'sr', parts: ['expert_sft', 'reflection_sft'] };
  switch (recipe) {
    case 'il':
      return [imitation];
    case 'iwm-il':
      return [world, imitation];
    case 'sr':
      return [reflection];
    case 'iwm-sr':
      return [world, reflection];
    case 'il2':
      // The control: imitation for the updates of both of iwm-il's stages.
      return [{ ...imitation, name: 'il2', updatesOf: [world, imitation] }];
  }
}

/** The parts that a recipe cannot do without: those it reads, and those it only counts. */
export function partsOf(recipe: Recipe): Set<DatasetPart> {
  return new Set(
    stagesOf(recipe)
      .flatMap((stage) => [...(stage.updatesOf ?? []), stage])
      .flatMap(({ parts }) => parts),
  );
}
