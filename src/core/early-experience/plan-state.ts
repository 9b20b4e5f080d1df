/** What will be executed from s_i: the expert's action, then A_i for each method, with the proposals' evidence. */
import type { EpisodeId } from '#shared/ids.ts';
import type { Branch } from '#shared/schema/branch.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { randomOf, seedOf } from '#core/agents/index.ts';
import type { PlannedBranch } from '#core/early-experience/branch.ts';
import type { SamplingCounts } from '#core/early-experience/branching-totals.ts';
import { NO_COSTS } from '#core/early-experience/call-costs.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import { samplesOf } from '#core/early-experience/model-needs.ts';
import type { Proposer } from '#core/early-experience/propose.ts';
import { proposeActions } from '#core/early-experience/propose.ts';
import type { AlternativeSet } from '#core/early-experience/sampling.ts';
import {
  exclusion,
  proposedAlternatives,
  unaskedAlternatives,
  uniformAlternatives,
} from '#core/early-experience/sampling.ts';

export interface SamplingSite {
  run: EarlyExperienceRun;
  seed: number;
  /** null where every sampler is uniform. */
  proposer: Proposer | null;
}

export interface StatePlan {
  planned: PlannedBranch[];
  /** One for each method. */
  sampled: SamplingCounts[];
}

/** Affinity of the model's cache: the states of one demonstration share their prompt's beginning. */
export function sessionKey(episodeId: EpisodeId): string {
  return `branch:${episodeId}`;
}

/** The expert's action first, then A_i for each method: what will be executed from s_i. */
export async function planState(
  demonstration: Demonstration,
  state: ExpertState,
  site: SamplingSite,
  signal: AbortSignal,
): Promise<StatePlan> {
  const { iwm, sr } = site.run.branching;
  const samples = samplesOf(site.run);
  const expert: PlannedBranch = {
    purpose: 'expert',
    alternativeIndex: 0,
    alternative: { action: state.expertAction, source: 'expert', proposal: null },
    proposal: null,
  };
  const sampled: Sampled[] = [];
  if (iwm.enabled) {
    const rules = {
      unique: true,
      refill: 'constant-k' as const,
      keepInadmissible: true,
      excludes: exclusion(iwm.excludeActions),
      samples: samples.iwm,
    };
    sampled.push(await sample('iwm', { ...iwm, ...rules }, demonstration, state, site, signal));
  }
  if (sr.enabled) {
    const rules = {
      unique: sr.unique,
      refill: sr.refill,
      keepInadmissible: sr.inadmissible === 'execute',
      excludes: () => false,
      samples: samples.sr,
    };
    sampled.push(await sample('sr', { ...sr, ...rules }, demonstration, state, site, signal));
  }
  return {
    planned: [expert, ...sampled.flatMap(({ branches }) => branches)],
    sampled: sampled.map(({ counts }) => counts),
  };
}

interface SampleRules {
  sampler: 'uniform' | 'policy';
  k: number;
  temperature: number;
  /** Of the policy, in one request. */
  samples: number;
  unique: boolean;
  refill: 'constant-k' | 'inadmissible-only';
  keepInadmissible: boolean;
  excludes: (action: string) => boolean;
}

interface Sampled {
  branches: PlannedBranch[];
  counts: SamplingCounts;
}

const NOT_ASKED = { ...NO_COSTS, tooLong: false, modelCalls: 0 };

async function sample(
  purpose: 'iwm' | 'sr',
  rules: SampleRules,
  { episode }: Demonstration,
  state: ExpertState,
  site: SamplingSite,
  signal: AbortSignal,
): Promise<Sampled> {
  const admissible = state.state.observation.admissible?.filter((action) => !rules.excludes(action)) ?? null;
  const random = randomOf(site.seed, episode.episodeId, state.stepIndex, purpose);
  let set: AlternativeSet;
  let asked = NOT_ASKED;
  let proposalOf = (_index: number): Branch['proposal'] => null;
  if (rules.sampler === 'uniform' || site.proposer === null) {
    set = uniformAlternatives(admissible ?? [], state.expertAction, rules.k, random);
  } else {
    const { proposer } = site;
    const made = await proposeActions(proposer, state.state, {
      n: rules.samples,
      temperature: rules.temperature,
      seed: seedOf(site.seed, episode.episodeId, state.stepIndex, purpose, 'proposals'),
      sessionKey: sessionKey(episode.episodeId),
      signal,
    });
    const { proposals, ...costs } = made;
    asked = { ...costs, modelCalls: made.tooLong ? 0 : 1 };
    const actions = proposals.map(({ action }) => action);
    set = made.tooLong
      ? unaskedAlternatives(admissible ?? [], state.expertAction, rules, random)
      : proposedAlternatives(actions, admissible, state.expertAction, rules, random);
    proposalOf = (index) => {
      const proposal = proposals[index];
      if (proposal === undefined) return null;
      return {
        modelId: proposer.model.info.model.modelId,
        raw: proposal.text,
        completionTokens: [...proposal.tokens],
        logprobs: [...proposal.logprobs],
        temperature: rules.temperature,
      };
    };
  }
  const branches = set.alternatives.map((alternative, alternativeIndex) => ({
    purpose,
    alternativeIndex,
    alternative,
    proposal: alternative.proposal === null ? null : proposalOf(alternative.proposal),
  }));
  const counts: SamplingCounts = {
    ...asked,
    shortSets: set.missing > 0 ? 1 : 0,
    missingAlternatives: set.missing,
    usedProposals: set.alternatives.filter(({ source }) => source === 'policy').length,
    droppedProposals: set.dropped,
  };
  return { branches, counts };
}
