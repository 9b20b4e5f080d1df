/**
 * The candidate set A_i (section 4.1): K alternatives of a state, none of them the expert's after canonicalisation.
 *
 * Two samplers, because IWM and SR use different ones in the paper's ALFWorld and ScienceWorld (appendix B.1, B.6):
 * `uniform` draws without replacement from the admissible actions minus the expert's; `policy` takes proposals of the policy.
 * Pure: the proposals are made elsewhere (propose.ts), the draw comes from the given generator.
 */
import type { BranchSource } from '#shared/schema/branch.ts';
import type { Random } from '#core/random.ts';
import { canonicalAction, distinctActions, matchAdmissible } from '#core/agents/index.ts';

export interface Alternative {
  action: string;
  source: BranchSource;
  /** Index into the given proposals; null for sampled actions. */
  proposal: number | null;
}

export interface AlternativeSet {
  alternatives: Alternative[];
  /** How many fewer than K there are, because the state admits no more. */
  missing: number;
  /** Proposals dropped, by reason: with those that are used, all that were drawn. */
  dropped: {
    expert: number;
    duplicate: number;
    unreadable: number;
    inadmissible: number;
    excluded: number;
    /** Drawn beyond K and not looked at. */
    surplus: number;
  };
}
export type DroppedProposals = AlternativeSet['dropped'];

export const NOTHING_DROPPED: Readonly<DroppedProposals> = {
  expert: 0,
  duplicate: 0,
  unreadable: 0,
  inadmissible: 0,
  excluded: 0,
  surplus: 0,
};

/** `branching.iwm.excludeActions`: an action, compared after canonicalisation, or the beginning of actions before a `*`. */
export function exclusion(patterns: readonly string[]): (action: string) => boolean {
  const rules = patterns.map((pattern) => {
    const canonical = canonicalAction(pattern);
    return canonical.endsWith('*')
      ? { text: canonical.slice(0, -1), prefix: true }
      : { text: canonical, prefix: false };
  });
  return (action) => {
    const canonical = canonicalAction(action);
    return rules.some(({ text, prefix }) => (prefix ? canonical.startsWith(text) : canonical === text));
  };
}

export function uniformAlternatives(
  admissible: readonly string[],
  expertAction: string,
  k: number,
  random: Random,
): AlternativeSet {
  const alternatives = random
    .shuffled(distinctActions(admissible, [expertAction]))
    .slice(0, k)
    .map((action): Alternative => ({ action, source: 'uniform', proposal: null }));
  return { alternatives, missing: k - alternatives.length, dropped: { ...NOTHING_DROPPED } };
}

/** A_i where the policy was to propose and could not be asked: uniform, and called so. The paper's rule replaces only what was proposed. */
export function unaskedAlternatives(
  admissible: readonly string[],
  expertAction: string,
  { k, refill }: Pick<ProposalRules, 'k' | 'refill'>,
  random: Random,
): AlternativeSet {
  const set = uniformAlternatives(admissible, expertAction, refill === 'constant-k' ? k : 0, random);
  return {
    ...set,
    alternatives: set.alternatives.map((one) => ({ ...one, source: 'unasked' })),
    missing: k - set.alternatives.length,
  };
}

export interface ProposalRules {
  k: number;
  /** Canonicalise and take each action once. */
  unique: boolean;
  /**
   * `constant-k`: every place that is left is filled from the unused admissible actions. `inadmissible-only`: the paper's — up to
   * K, only an inadmissible proposal is replaced.
   */
  refill: 'constant-k' | 'inadmissible-only';
  /** IWM keeps what is not admissible, because its error is an outcome worth predicting; SR replaces it (appendix B.1) unless told otherwise (B.2). */
  keepInadmissible: boolean;
  /** Actions that the run leaves out; `admissible` is given without them. */
  excludes?: (action: string) => boolean;
}

/** @param proposals parsed action texts in the order they were drawn; empty where the answer held none */
export function proposedAlternatives(
  proposals: readonly string[],
  admissible: readonly string[] | null,
  expertAction: string,
  rules: ProposalRules,
  random: Random,
): AlternativeSet {
  const expert = canonicalAction(expertAction);
  const alternatives: Alternative[] = [];
  const dropped = { ...NOTHING_DROPPED };
  const used = new Set([expert]);
  let replacements = 0;
  for (const [proposal, text] of proposals.entries()) {
    if (alternatives.length + replacements >= rules.k) {
      dropped.surplus = proposals.length - proposal;
      break;
    }
    const action = matchAdmissible(text, admissible) ?? text.trim();
    const canonical = canonicalAction(action);
    const again = rules.unique && used.has(canonical);
    // Unique comes first: what is not admissible counts, and is replaced, once however often it was proposed.
    used.add(canonical);
    if (canonical === expert) dropped.expert += 1;
    else if (canonical !== '' && rules.excludes?.(action) === true) dropped.excluded += 1;
    else if (again && canonical !== '') dropped.duplicate += 1;
    else if (canonical === '' || isInadmissible(action, admissible, rules)) {
      dropped[canonical === '' ? 'unreadable' : 'inadmissible'] += 1;
      if (rules.refill === 'inadmissible-only' && !again) replacements += 1;
    } else alternatives.push({ action, source: 'policy', proposal });
  }
  const open = rules.refill === 'constant-k' ? rules.k - alternatives.length : replacements;
  const unused = random.shuffled(distinctActions(admissible ?? [], [...used]));
  for (const action of unused.slice(0, open)) alternatives.push({ action, source: 'refill', proposal: null });
  return { alternatives, missing: Math.max(0, rules.k - alternatives.length), dropped };
}

function isInadmissible(action: string, admissible: readonly string[] | null, rules: ProposalRules): boolean {
  return !rules.keepInadmissible && admissible !== null && matchAdmissible(action, admissible) === null;
}
