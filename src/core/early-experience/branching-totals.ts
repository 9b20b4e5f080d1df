/** What the branching job counts, kept in its checkpoint so that a resumed job goes on counting. */
import type { ModelId } from '#shared/ids.ts';
import type { Branch } from '#shared/schema/branch.ts';
import type { JobContext } from '#core/jobs/port.ts';
import type { AlternativeSet } from '#core/early-experience/sampling.ts';

export interface BranchingTotals {
  states: number;
  failedEpisodes: number;
  realSteps: number;
  /** States that admit fewer than K alternatives, by method they may count twice. */
  shortSets: number;
  missingAlternatives: number;
  droppedProposals: AlternativeSet['dropped'];
  accepted: number;
  rejected: number;
  invalid: number;
  /** States whose prompt does not fit the model's context, each once: no proposals there. */
  tooLong: number;
  modelCalls: number;
  promptCharacters: number;
  promptTokens: number;
  evaluatedPromptTokens: number;
  completionTokens: number;
  /** How the proposing model was prompted; the exported rows use the same. */
  format: 'chat' | 'completion';
  /** Which model proposed; null where none was asked. */
  modelId: ModelId | null;
}

export function emptyTotals(): BranchingTotals {
  return {
    states: 0,
    failedEpisodes: 0,
    realSteps: 0,
    shortSets: 0,
    missingAlternatives: 0,
    droppedProposals: { expert: 0, duplicate: 0, unreadable: 0, inadmissible: 0, excluded: 0 },
    accepted: 0,
    rejected: 0,
    invalid: 0,
    tooLong: 0,
    modelCalls: 0,
    promptCharacters: 0,
    promptTokens: 0,
    evaluatedPromptTokens: 0,
    completionTokens: 0,
    format: 'chat',
    modelId: null,
  };
}

export function addDropped(totals: BranchingTotals, set: AlternativeSet): void {
  totals.shortSets += set.missing > 0 ? 1 : 0;
  totals.missingAlternatives += set.missing;
  // A checkpoint of an older version has no count of the excluded.
  const { expert, duplicate, unreadable, inadmissible, excluded = 0 } = totals.droppedProposals;
  totals.droppedProposals = {
    expert: expert + set.dropped.expert,
    duplicate: duplicate + set.dropped.duplicate,
    unreadable: unreadable + set.dropped.unreadable,
    inadmissible: inadmissible + set.dropped.inadmissible,
    excluded: excluded + set.dropped.excluded,
  };
}

/** Counts the branches of one state and tells the curves. */
export function reportTotals(
  context: JobContext<unknown>,
  totals: BranchingTotals,
  branches: readonly Branch[],
): void {
  for (const { status, valid } of branches) {
    if (status === 'rejected') totals.rejected += 1;
    else {
      totals.accepted += 1;
      totals.invalid += valid ? 0 : 1;
    }
  }
  context.metric('branches-accepted', totals.states, totals.accepted);
  context.metric('branches-rejected', totals.states, totals.rejected);
  context.metric(
    'invalid-share',
    totals.states,
    totals.accepted === 0 ? 0 : totals.invalid / totals.accepted,
  );
  context.metric('environment-steps', totals.states, totals.realSteps);
  if (totals.modelCalls > 0) {
    context.metric('completion-tokens', totals.states, totals.completionTokens);
    context.metric('evaluated-prompt-tokens', totals.states, totals.evaluatedPromptTokens);
  }
}
