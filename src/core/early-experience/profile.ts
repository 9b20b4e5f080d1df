/**
 * The two profiles of the spec's 1.8. `paper` sets every switch as the paper has it, unless the run's file says otherwise; what
 * then still differs is a deviation, recorded by label and reason and printed with the results.
 */
import type { Sampling } from '#shared/schema/model.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';

/** Proposals beyond K for an IWM set that comes from the policy; SR has its own setting. */
export const IWM_EXTRA = 2;

export interface Deviation {
  label: string;
  reason: string;
}

/** The registry's word on what family an environment's id belongs to. */
export type FamilyOf = (environmentId: string) => string;

/** Families of our own stand beside a benchmark of the paper (design/environments.md). */
const BESIDE: Record<string, string> = {
  household: 'alfworld',
  shop: 'webshop',
  tools: 'bfcl',
  desk: 'tau',
  science: 'scienceworld',
  search: 'searchqa',
  travel: 'travelplanner',
  web: 'webarena',
};

/** Spec 1.3: the only two families whose paper recipe has a filter that a text detector can apply. */
const CONTRADICTION_FAMILIES: ReadonlySet<string> = new Set(['bfcl', 'webarena']);
/** Spec 1.4: what is not admissible is replaced in the SR set of these; elsewhere it is executed. */
const REPLACING_FAMILIES: ReadonlySet<string> = new Set(['alfworld', 'scienceworld', 'webarena']);
/** Spec 1.3: canonicalise + unique is stated for the SR set of these. */
const UNIQUE_FAMILIES: ReadonlySet<string> = new Set(['alfworld', 'scienceworld', 'webarena', 'webshop']);

/** Spec 1.4, where it states a number of alternatives: the world model's, the reflections'. */
const ALTERNATIVES: Partial<Record<string, { iwm: number; sr: number | null }>> = {
  alfworld: { iwm: 8, sr: 3 },
  scienceworld: { iwm: 3, sr: 3 },
  bfcl: { iwm: 10, sr: null },
  tau: { iwm: 5, sr: 3 },
  searchqa: { iwm: 30, sr: 2 },
};
/** Spec 1.4: the SR proposals of these are drawn at 1.0; elsewhere no one temperature is stated. */
const TEMPERATURE_ONE: ReadonlySet<string> = new Set(['alfworld', 'scienceworld']);
/** Spec 1.4, where it states at what temperatures the world model's alternatives are proposed. */
const IWM_TEMPERATURES: Partial<Record<string, readonly number[]>> = {
  webshop: [0.5, 0.8, 0.9],
  searchqa: [1],
};
/** Spec 1.4: whose alternatives the world model predicts from. Not here: WebShop mixes both. */
const IWM_UNIFORM: ReadonlySet<string> = new Set(['alfworld', 'scienceworld', 'travelplanner']);
const IWM_PROPOSED: ReadonlySet<string> = new Set(['bfcl', 'tau', 'searchqa', 'webarena']);

function benchmarkOf(family: string): string {
  return BESIDE[family] ?? family;
}

/** The switches as the paper has them for this family. */
export function paperSwitches(family: string) {
  const benchmark = benchmarkOf(family);
  return {
    branching: {
      iwm: { expertTriple: benchmark !== 'tau' },
      sr: {
        extra: 0,
        unique: UNIQUE_FAMILIES.has(benchmark),
        refill: 'inadmissible-only' as const,
        inadmissible: REPLACING_FAMILIES.has(benchmark) ? ('replace' as const) : ('execute' as const),
      },
    },
    reflection: {
      template: 'paper' as const,
      generator: 'self' as const,
      attempts: 1,
      filters: {
        contradiction: CONTRADICTION_FAMILIES.has(benchmark),
        labelLeak: false,
        numbering: false,
        outcomeNarration: false,
        scaffold: false,
        doubled: false,
        garbled: false,
        unrelated: false,
        length: false,
      },
    },
    export: { expertThought: false },
  };
}

/**
 * Fills the paper's switches into a run as it was written (before defaults are filled in), where it says `profile: paper` and is
 * silent about a switch. Anything that is no such run is returned as it is.
 */
export function withProfile(raw: unknown, familyOf: FamilyOf): unknown {
  if (!isRecord(raw) || raw['kind'] !== 'early-experience' || raw['profile'] !== 'paper') return raw;
  const environment = raw['environment'];
  const id = isRecord(environment) && typeof environment['id'] === 'string' ? environment['id'] : '';
  return underlay(raw, paperSwitches(familyOf(id)));
}

/** Whether the run's data sets can hold reflection rows: they compare SR alternatives. */
export function writesReflections({ reflection, branching }: EarlyExperienceRun): boolean {
  return reflection.enabled && branching.sr.enabled;
}

/** Where this run differs from the paper, switch by switch. */
export function deviationsOf(run: EarlyExperienceRun, family: string): Deviation[] {
  const paper = paperSwitches(family);
  const { sr, iwm } = run.branching;
  const { reflection } = run;
  const found: Deviation[] = [];
  const note = (differs: boolean, label: string, reason: string): void => {
    if (differs) found.push({ label, reason });
  };
  note(
    iwm.enabled && iwm.expertTriple !== paper.branching.iwm.expertTriple,
    benchmarkOf(family) === 'tau' ? 'tau-expert-triple' : 'no-expert-triple',
    iwm.expertTriple
      ? 'The IWM set also holds the expert’s triple; the paper states none here.'
      : 'The IWM set lacks the expert’s triple that the paper includes.',
  );
  const stated = ALTERNATIVES[benchmarkOf(family)];
  const proposes = (sr.enabled && sr.sampler === 'policy') || (iwm.enabled && iwm.sampler === 'policy');
  note(
    iwm.enabled && stated !== undefined && iwm.k !== stated.iwm,
    'iwm-k',
    `${String(iwm.k)} world-model alternatives a state; the paper takes ${String(stated?.iwm)} here.`,
  );
  note(
    sr.enabled && typeof stated?.sr === 'number' && sr.k !== stated.sr,
    'sr-k',
    `${String(sr.k)} alternatives a reflection compares with; the paper takes ${String(stated?.sr)} here.`,
  );
  note(
    proposes && run.policy.actionGrammar,
    'action-grammar',
    'Proposals are confined to admissible actions by a grammar; the paper lets the policy write freely.',
  );
  const cut = cutOf(run.policy.sampling);
  note(
    proposes && cut !== '',
    'cut-proposals',
    `Proposals are sampled with ${cut}; the paper names a temperature alone.`,
  );
  if (sr.enabled && sr.sampler === 'policy') {
    note(
      sr.temperature !== 1 && TEMPERATURE_ONE.has(benchmarkOf(family)),
      'sr-temperature',
      `SR proposals are drawn at temperature ${String(sr.temperature)}; the paper draws them at 1.0 here.`,
    );
    note(
      sr.extra !== paper.branching.sr.extra,
      'one-request',
      `One request draws K and ${String(sr.extra)} more; the paper draws up to K.`,
    );
    note(
      sr.refill !== paper.branching.sr.refill,
      'constant-k',
      'Every open place is refilled from the admissible actions, so K is constant; the paper replaces only inadmissible proposals.',
    );
    note(
      sr.unique !== paper.branching.sr.unique,
      sr.unique ? 'unique-all' : 'not-unique',
      sr.unique
        ? 'Alternatives are compared after canonicalisation and taken once; the paper does not say so here.'
        : 'Alternatives may repeat; the paper takes each once.',
    );
    note(
      sr.inadmissible !== paper.branching.sr.inadmissible,
      `${sr.inadmissible}-inadmissible`,
      sr.inadmissible === 'execute'
        ? 'Inadmissible proposals are executed and compared with; the paper replaces them here.'
        : 'Inadmissible proposals are replaced by admissible actions; the paper does not say so here.',
    );
  }
  if (iwm.enabled) {
    note(
      iwm.excludeActions.length > 0,
      'iwm-exclude',
      `IWM alternatives leave out ${iwm.excludeActions.join(', ')}; the paper draws from all admissible actions.`,
    );
    const proposed = iwm.sampler === 'policy';
    note(
      (proposed ? IWM_UNIFORM : IWM_PROPOSED).has(benchmarkOf(family)),
      'iwm-sampler',
      proposed
        ? 'IWM alternatives are proposed by the policy; the paper draws them from the admissible actions here.'
        : 'IWM alternatives are drawn from the admissible actions; the paper lets the policy propose them here.',
    );
    const temperatures = IWM_TEMPERATURES[benchmarkOf(family)];
    note(
      proposed && temperatures !== undefined && temperatures.join() !== String(iwm.temperature),
      'iwm-temperature',
      `IWM proposals are drawn at temperature ${String(iwm.temperature)}; the paper draws them at ${temperatures?.join(', ') ?? ''} here.`,
    );
    note(
      proposed,
      'iwm-one-request',
      `One request draws K and ${String(IWM_EXTRA)} more IWM proposals; the paper draws K.`,
    );
    note(
      proposed,
      'iwm-constant-k',
      'IWM proposals that repeat are taken once and open places are filled from the admissible actions, so K is constant; the paper does not say so.',
    );
    note(
      true,
      'iwm-format',
      'IWM rows have their own system prompt and an “Observation:” delimiter; the paper is silent.',
    );
  }
  note(
    sr.enabled && sr.sampler === 'uniform' && ['alfworld', 'scienceworld'].includes(benchmarkOf(family)),
    'sr-sampler',
    'SR alternatives are drawn from the admissible actions; the paper lets the policy propose them here.',
  );
  if (writesReflections(run)) {
    note(
      reflection.template !== 'paper',
      'prompt-redo',
      'The label’s slot is renamed and anticipation is asked for, because the paper’s template leaks both.',
    );
    note(
      reflection.generator !== 'self',
      'generator',
      'Another model than the policy writes the reflections.',
    );
    const generator = reflection.generator === 'self' ? run.policy : reflection.generator;
    const cutReflections = cutOf(generator.sampling);
    note(
      cutReflections !== '',
      'cut-reflections',
      `Reflections are sampled with ${cutReflections}; the paper names a temperature alone.`,
    );
    note(
      reflection.attempts > 1,
      'attempts',
      'A dropped reflection is sampled again; the paper samples once.',
    );
    note(
      reflection.unit === 'alternative',
      'per-alternative',
      'One reflection per alternative (Eq. 4); the paper’s counts are one per state.',
    );
    const extra = Object.entries(paper.reflection.filters).flatMap(([rule, on]) =>
      run.reflection.filters[rule as keyof typeof paper.reflection.filters] !== on ? [rule] : [],
    );
    note(
      extra.length > 0,
      'leak-filters',
      `Filters that differ from the paper’s table: ${extra.join(', ')}.`,
    );
  }
  note(
    writesReflections(run) && !run.policy.thought,
    'thought-prompt',
    'The policy that collects acts without thoughts; the rows have the prompt that allows them, since reflections are thoughts. Evaluate with `policy.thought: true`.',
  );
  note(run.export.expertThought, 'expert-thought', 'Expert rows carry a placeholder thought.');
  note(
    !run.export.stripRewardText,
    'reward-text',
    'Reward text stays in the next states, although the method is reward-free.',
  );
  return found;
}

/** What keeps unlikely tokens from being drawn; empty where every token can be. */
function cutOf({ topK, topP, minP }: Omit<Sampling, 'temperature'>): string {
  return [
    ...(topK > 0 ? [`top-k ${String(topK)}`] : []),
    ...(topP < 1 ? [`top-p ${String(topP)}`] : []),
    ...(minP > 0 ? [`min-p ${String(minP)}`] : []),
  ].join(', ');
}

type Plain = Record<string, unknown>;

function isRecord(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `base` below `written`: what is written wins, at every depth. */
function underlay(written: Plain, base: Plain): Plain {
  const result: Plain = { ...written };
  for (const [key, value] of Object.entries(base)) {
    const present = result[key];
    if (present === undefined) result[key] = value;
    else if (isRecord(present) && isRecord(value)) result[key] = underlay(present, value);
  }
  return result;
}
