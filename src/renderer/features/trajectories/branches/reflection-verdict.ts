import type { MarkedReflection } from '#shared/contract/episodes.ts';
import { reflectionFlagSchema } from '#shared/schema/branch.ts';
import { flagLabels } from '../../../ui/flag-labels.ts';

export interface Verdict {
  readonly kept: boolean;
  readonly text: string;
}

/** Whether the text goes into the data set is the export's word, not ours; this says in words whose decision it was. */
export function verdictOf({
  exported,
  runRemoved,
  text,
  keptByFilters,
  droppedBy,
  review: { decision },
}: Pick<
  MarkedReflection,
  'exported' | 'runRemoved' | 'text' | 'keptByFilters' | 'droppedBy' | 'review'
>): Verdict {
  if (exported) return { kept: true, text: decision === 'keep' ? 'Kept by you' : 'Kept by the filters' };
  return { kept: false, text: whyNot() };

  function whyNot(): string {
    if (runRemoved) return 'Its run was removed: it is not exported again';
    if (decision === 'drop') return 'Dropped by you';
    if (text.trim() === '') return 'Empty: nothing to train on';
    if (decision === 'keep' || keptByFilters) return 'Not used: another attempt at this text is';
    const found = droppedBy.map((name) => flagLabels[reflectionFlagSchema.catch('empty').parse(name)].label);
    return found.length === 0 ? 'Dropped by the filters' : `Dropped: ${found.join(', ').toLowerCase()}`;
  }
}
