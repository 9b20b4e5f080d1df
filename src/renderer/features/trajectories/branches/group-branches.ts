import type { Branch, Reflection } from '#shared/schema/branch.ts';
import type { StepView } from '../../../ui/viewer/step-view.ts';

/** One state of the trunk with everything that was tried there. */
export interface BranchState {
  readonly step: StepView;
  /** Accepted alternatives, IWM before SR, by their index j. */
  readonly twigs: readonly Branch[];
  /** Their start could not be proved equal: shown, never used. */
  readonly rejected: readonly Branch[];
  /** The (s, a*, s′) triple where it was executed again as a branch. */
  readonly expert: Branch | null;
  readonly reflections: readonly Reflection[];
}

const purposeOrder = { expert: 0, iwm: 1, sr: 2 } as const;

export function groupBranches(
  steps: readonly StepView[],
  branches: readonly Branch[],
  reflections: readonly Reflection[],
): BranchState[] {
  const sorted = [...branches].sort(
    (a, b) => purposeOrder[a.purpose] - purposeOrder[b.purpose] || a.alternativeIndex - b.alternativeIndex,
  );
  return steps.map((step) => {
    const here = sorted.filter((branch) => branch.stepIndex === step.index);
    const alternatives = here.filter((branch) => branch.purpose !== 'expert');
    return {
      step,
      twigs: alternatives.filter((branch) => branch.status === 'accepted'),
      rejected: here.filter((branch) => branch.status === 'rejected'),
      expert: here.find((branch) => branch.purpose === 'expert' && branch.status === 'accepted') ?? null,
      reflections: reflections.filter((reflection) => reflection.stepIndex === step.index),
    };
  });
}

export type TwigKind = 'rejected' | 'invalid' | 'same' | 'distinct';

/** What a twig taught, worst first: it decides shape and colour. */
export function twigKind(branch: Pick<Branch, 'status' | 'valid' | 'sameAsExpert'>): TwigKind {
  if (branch.status === 'rejected') return 'rejected';
  if (!branch.valid) return 'invalid';
  return branch.sameAsExpert ? 'same' : 'distinct';
}

export const twigLabels: Record<TwigKind, string> = {
  distinct: 'New outcome',
  same: 'Same outcome as the expert',
  invalid: 'Invalid action',
  rejected: 'Rejected: start not proved',
};

/** Rows that go into iwm_sft from this state: the accepted IWM branches and, where executed, the expert triple. */
export function iwmTriples(state: BranchState): Branch[] {
  return [
    ...(state.expert === null ? [] : [state.expert]),
    ...state.twigs.filter((twig) => twig.purpose === 'iwm'),
  ];
}

export function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? '';
}
