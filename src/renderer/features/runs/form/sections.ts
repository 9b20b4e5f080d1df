import type { Run } from '#shared/schema/run.ts';
import { earlyExperienceRunSchema, rolloutRunSchema } from '#shared/schema/run.ts';
import { fieldOf } from '../../../ui/form/fields.ts';
import type { Field } from '../../../ui/form/fields.ts';

export interface Section {
  id: string;
  title: string;
  help: string;
  fields: Field[];
}

/** The order of the pipeline; anything the schema has beyond it comes under `Run`. */
const order: Record<Run['kind'], [key: string, title: string, help: string][]> = {
  'early-experience': [
    ['environment', 'Environment and tasks', 'Where the agent acts, and on what.'],
    ['demonstrations', 'Demonstrations', 'Whose successful episodes are branched.'],
    ['policy', 'Policy', 'The model whose experience is collected.'],
    ['branching', 'Branching', 'Alternatives really executed from every state of a demonstration.'],
    ['reflection', 'Reflection', 'Texts on why the expert’s action was better, and what drops them.'],
    ['export', 'Data sets', 'What is written at the end.'],
    ['limits', 'Limits', 'When an episode ends.'],
  ],
  rollout: [
    ['environment', 'Environment and tasks', 'Where the agent acts, and on what.'],
    ['policy', 'Policy', 'The model that acts.'],
    ['limits', 'Limits', 'When an episode ends.'],
  ],
};

const schemas = { 'early-experience': earlyExperienceRunSchema, rollout: rolloutRunSchema };

export function sectionsOf(kind: Run['kind']): Section[] {
  const root = fieldOf(schemas[kind], kind, []);
  if (root.kind !== 'group') return [];
  const known = new Set(order[kind].map(([key]) => key));
  const general = root.fields.filter((field) => field.kind !== 'fixed' && !known.has(field.key));
  const sections: Section[] = [{ id: 'run', title: 'Run', help: '', fields: general }];
  for (const [key, title, help] of order[kind]) {
    const field = root.fields.find((candidate) => candidate.key === key);
    if (field === undefined) continue;
    sections.push({ id: key, title, help, fields: field.kind === 'group' ? field.fields : [field] });
  }
  return sections;
}
