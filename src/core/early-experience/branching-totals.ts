/** What the branching job counts, kept in its checkpoint so that a resumed job goes on counting. */
import type { ModelId } from '#shared/ids.ts';
import type { Branch } from '#shared/schema/branch.ts';
import type { JobContext } from '#core/jobs/port.ts';
import type { CallCosts } from '#core/early-experience/call-costs.ts';
import { addCosts, NO_COSTS } from '#core/early-experience/call-costs.ts';
import type { DroppedProposals } from '#core/early-experience/sampling.ts';
import { NOTHING_DROPPED } from '#core/early-experience/sampling.ts';

export interface BranchingTotals extends CallCosts {
  states: number;
  failedEpisodes: number;
  realSteps: number;
  /** States that admit fewer than K alternatives, by method they may count twice. */
  shortSets: number;
  missingAlternatives: number;
  /** Proposals that became an alternative. */
  usedProposals: number;
  droppedProposals: DroppedProposals;
  accepted: number;
  rejected: number;
  invalid: number;
  /** States whose prompt does not fit the model's context, each once: no proposals there. */
  tooLong: number;
  modelCalls: number;
  /** How the proposing model was prompted, and which it is; null where none was asked. */
  format: 'chat' | 'completion' | null;
  modelId: ModelId | null;
}

/** What the sampling of one state's alternatives came to: nothing that counts until the state is committed. */
export interface SamplingCounts extends CallCosts {
  shortSets: number;
  missingAlternatives: number;
  /** Proposals that became an alternative. */
  usedProposals: number;
  droppedProposals: DroppedProposals;
  tooLong: boolean;
  modelCalls: number;
}

export function emptyTotals(): BranchingTotals {
  return {
    states: 0,
    failedEpisodes: 0,
    realSteps: 0,
    shortSets: 0,
    missingAlternatives: 0,
    usedProposals: 0,
    droppedProposals: { ...NOTHING_DROPPED },
    accepted: 0,
    rejected: 0,
    invalid: 0,
    tooLong: 0,
    modelCalls: 0,
    ...NO_COSTS,
    format: null,
    modelId: null,
  };
}

/** Of the state that is committed with them, all methods together. */
export function addSampling(totals: BranchingTotals, sampled: readonly SamplingCounts[]): void {
  totals.tooLong += sampled.some(({ tooLong }) => tooLong) ? 1 : 0;
  for (const counts of sampled) {
    totals.shortSets += counts.shortSets;
    totals.missingAlternatives += counts.missingAlternatives;
    totals.usedProposals += counts.usedProposals;
    // A checkpoint of an older version lacks the later reasons.
    const before = { ...NOTHING_DROPPED, ...totals.droppedProposals };
    const now = counts.droppedProposals;
    totals.droppedProposals = {
      expert: before.expert + now.expert,
      duplicate: before.duplicate + now.duplicate,
      unreadable: before.unreadable + now.unreadable,
      inadmissible: before.inadmissible + now.inadmissible,
      excluded: before.excluded + now.excluded,
      surplus: before.surplus + now.surplus,
    };
    totals.modelCalls += counts.modelCalls;
    addCosts(totals, counts);
  }
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
  if (totals.completionTokens > 0) {
    context.metric('completion-tokens', totals.states, totals.completionTokens);
  }
  if (totals.promptTokens > 0) {
    context.metric('evaluated-prompt-tokens', totals.states, totals.evaluatedPromptTokens);
  }
}
