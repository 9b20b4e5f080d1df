import { trainRunSchema } from '#shared/schema/training.ts';
import { fieldOf } from '../../ui/form/fields.ts';
import type { Field } from '../../ui/form/fields.ts';

interface Section {
  id: string;
  title: string;
  help: string;
  keys: readonly string[];
}

const order: readonly Section[] = [
  {
    id: 'what',
    title: 'What is learnt',
    help: 'From which rows, on which weights, in which order.',
    keys: ['dataset', 'base', 'recipe', 'adapter', 'format'],
  },
  {
    id: 'weights',
    title: 'Weights',
    help: 'An adapter beside the model, or a whole model.',
    keys: ['weights'],
  },
  {
    id: 'updates',
    title: 'Updates',
    help: 'How many, how large, how fast.',
    keys: [
      'epochs',
      'iwmEpochs',
      'updates',
      'batchRows',
      'learningRate',
      'schedule',
      'optimizer',
      'muonFactor',
      'weightDecay',
      'clipNorm',
      'divergenceFactor',
      'groupBy',
    ],
  },
];

const root = fieldOf(trainRunSchema, 'train', []);
const all = root.kind === 'group' ? root.fields.filter(({ kind }) => kind !== 'fixed') : [];

/** Fields that mean nothing beside the values of others are left out: nothing on the form is without effect. */
function applies(field: Field, value: (path: readonly string[]) => unknown): boolean {
  const recipe = String(value(['recipe']) ?? 'il');
  if (field.key === 'iwmEpochs') return recipe.startsWith('iwm') || recipe === 'il2';
  if (field.key === 'adapter') return value(['weights', 'kind']) !== 'full';
  if (field.key === 'muonFactor') return value(['optimizer']) === 'muon';
  const [group, key] = field.path;
  // What goes on from an adapter keeps its rank, alpha and targets.
  if (group === 'weights' && key !== 'kind')
    return value(['weights', 'kind']) !== 'full' && value(['adapter', 'path']) === undefined;
  return true;
}

/** The fields of a training in the order in which one decides them; what the schema has beyond it comes last. */
export function trainingSections(
  value: (path: readonly string[]) => unknown,
): (Section & { fields: Field[] })[] {
  const placed = new Set(order.flatMap(({ keys }) => keys));
  const rest: Section = {
    id: 'machine',
    title: 'Machine and name',
    help: 'Where it computes, and what it is called.',
    keys: all.map(({ key }) => key).filter((key) => !placed.has(key)),
  };
  return [...order, rest].map((section) => ({
    ...section,
    fields: section.keys
      .flatMap((key) => all.find((field) => field.key === key) ?? [])
      .flatMap((field) => (field.kind === 'group' && section.keys.length === 1 ? field.fields : [field]))
      .filter((field) => applies(field, value)),
  }));
}
