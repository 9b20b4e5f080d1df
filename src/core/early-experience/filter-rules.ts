/** Which findings drop a reflection. Dropped rows stay in the store with `droppedBy` and come back by review. */
import { assertNever } from '#shared/errors.ts';
import type { ReflectionFlag } from '#shared/schema/branch.ts';
import type { ReflectionFilters } from '#shared/schema/run.ts';
import type { DropReason } from '#core/early-experience/verdicts.ts';

/** The rule that a flag belongs to; null for `empty`, which no switch can keep: there is nothing to train on. */
export function ruleOf(flag: ReflectionFlag): keyof ReflectionFilters | null {
  switch (flag) {
    case 'label-leak':
      return 'labelLeak';
    case 'numbering':
      return 'numbering';
    case 'outcome-narration':
      return 'outcomeNarration';
    case 'scaffold':
      return 'scaffold';
    case 'doubled':
      return 'doubled';
    case 'contradiction':
      return 'contradiction';
    case 'too-short':
    case 'too-long':
      return 'length';
    case 'garbled':
      return 'garbled';
    case 'unrelated':
      return 'unrelated';
    case 'empty':
      return null;
    default:
      return assertNever(flag);
  }
}

export function droppedBy(
  findings: readonly { flag: ReflectionFlag }[],
  filters: ReflectionFilters,
): ReflectionFlag[] {
  const dropping = findings.filter(({ flag }) => {
    const rule = ruleOf(flag);
    return rule === null || filters[rule] === true;
  });
  return [...new Set(dropping.map(({ flag }) => flag))];
}

export const DROP_HELP: Record<DropReason, string> = {
  'label-leak': 'names the role of an action in the generator’s prompt',
  numbering: 'calls options by number',
  'outcome-narration': 'tells an outcome as already seen',
  scaffold: 'cites the generator’s prompt',
  doubled: 'says the same twice',
  contradiction: 'concludes another action than the expert’s',
  'too-long': 'longer than reflection.filters.maxWords, or cut off at reflection.maxTokens',
  'too-short': 'shorter than reflection.filters.minWords',
  unrelated: 'names nothing that the expert’s action names',
  garbled: 'broken characters, or no sentence of English',
  empty: 'holds no words',
  review: 'dropped by a person',
};
