import type { MarkedBranch, MarkedReflection } from '#shared/contract/episodes.ts';
import type { Branch } from '#shared/schema/branch.ts';
import { branchKey } from '#shared/row-key.ts';
import type { StepView } from '../../../ui/viewer/step-view.ts';

/** What one job executed from a state. Two runs over the same demonstrations are two answers to the same question: never mixed. */
export interface BranchRun {
  readonly jobId: Branch['jobId'];
  /** When its first branch here was executed, ms. */
  readonly startedAt: number;
  /** Accepted alternatives, IWM before SR, by their index j. */
  readonly twigs: readonly MarkedBranch[];
  /** Their start could not be proved equal: shown, never used. */
  readonly rejected: readonly MarkedBranch[];
  /** What an export of the run makes rows of iwm_sft from, the expert's triple first. */
  readonly triples: readonly MarkedBranch[];
}

/** One state of the trunk with everything that was tried there, the oldest run first. */
export interface BranchState {
  readonly step: StepView;
  readonly runs: readonly BranchRun[];
  /** Of all runs, as they are shown: run by run, the accepted before the rejected. */
  readonly alternatives: readonly Branch[];
  readonly reflections: readonly MarkedReflection[];
}

const purposeOrder = { expert: 0, iwm: 1, sr: 2 } as const;

export function groupBranches(
  steps: readonly StepView[],
  branches: readonly MarkedBranch[],
  reflections: readonly MarkedReflection[],
): BranchState[] {
  const sorted = [...branches].sort(
    (a, b) => purposeOrder[a.purpose] - purposeOrder[b.purpose] || a.alternativeIndex - b.alternativeIndex,
  );
  return steps.map((step) => {
    const here = sorted.filter((branch) => branch.stepIndex === step.index);
    const jobs = [...new Set(here.map(({ jobId }) => jobId))];
    const runs = jobs
      .map((jobId) => branchRun(here.filter((branch) => branch.jobId === jobId)))
      .toSorted((a, b) => a.startedAt - b.startedAt);
    return {
      step,
      runs,
      alternatives: runs.flatMap(({ twigs, rejected }) => [...twigs, ...rejected]),
      reflections: reflections.filter((reflection) => reflection.stepIndex === step.index),
    };
  });
}

/** `branches`: of one job, at least one. */
function branchRun(branches: readonly MarkedBranch[]): BranchRun {
  const isAccepted = ({ status }: MarkedBranch) => status === 'accepted';
  return {
    jobId: branches[0]?.jobId ?? null,
    startedAt: Math.min(...branches.map(({ createdAt }) => createdAt)),
    twigs: branches.filter((branch) => branch.purpose !== 'expert' && isAccepted(branch)),
    rejected: branches.filter(({ status }) => status === 'rejected'),
    triples: branches.filter(({ inIwm }) => inIwm === true),
  };
}

/**
 * The branch that a link names: by its id, or as a data set's row does, by its key and the action. Two runs over one demonstration may
 * have the same key; then any that did the same action shows the same.
 */
export function namedBranch(
  { alternatives }: Pick<BranchState, 'alternatives'>,
  name: string,
  action: string | null,
): Branch | null {
  const meant = (branch: Branch) =>
    branch.branchId === name || (branchKey(branch) === name && (action === null || branch.action === action));
  return alternatives.find(meant) ?? null;
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

export function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '') ?? '';
}
