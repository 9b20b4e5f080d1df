import { expect, test } from 'vitest';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { modelNeeds, samplesOf } from '#core/early-experience/model-needs.ts';
import { deviationsOf, withProfile } from '#core/early-experience/profile.ts';

const written = (extra: object = {}) => ({
  kind: 'early-experience',
  environment: { id: 'household-small' },
  policy: { model: 'm' },
  ...extra,
});
/** As if each world's id were its family, but for the small household. */
const familyOf = (id: string): string => (id === 'household-small' ? 'household' : id);
const labels = (raw: unknown, family = 'household') =>
  deviationsOf(earlyExperienceRunSchema.parse(raw), family).map(({ label }) => label);

test('the product’s default names every deviation of the spec’s table that concerns the data', () => {
  expect(labels(written())).toEqual([
    'one-request',
    'constant-k',
    'iwm-format',
    'prompt-redo',
    'leak-filters',
  ]);
});

test('other numbers of alternatives, another temperature and a grammar are recorded, and only where the paper states them', () => {
  const base = labels(written());
  const added = (extra: object, family?: string) =>
    labels(written(extra), family).filter((label) => !base.includes(label));
  expect(added({ branching: { iwm: { k: 1 } } })).toEqual(['iwm-k']);
  expect(added({ branching: { sr: { k: 1 } } })).toEqual(['sr-k']);
  expect(added({ branching: { sr: { temperature: 0.1 } } })).toEqual(['sr-temperature']);
  expect(added({ policy: { model: 'm', actionGrammar: true } })).toEqual(['action-grammar']);
  // TravelPlanner takes all valid actions; no number is stated.
  expect(added({ branching: { iwm: { k: 1 } } }, 'travel')).not.toContain('iwm-k');
  const uniform = { iwm: { sampler: 'uniform' }, sr: { sampler: 'uniform', temperature: 0.1 } };
  expect(added({ branching: uniform, policy: { model: 'm', actionGrammar: true } })).toEqual(['sr-sampler']);
});

test('a sampler that is cut is recorded for what it draws, and only there', () => {
  const base = labels(written());
  const added = (extra: object) =>
    deviationsOf(earlyExperienceRunSchema.parse(written(extra)), 'household').filter(
      ({ label }) => !base.includes(label),
    );
  const policy = { model: 'm', sampling: { topK: 40, topP: 0.9, minP: 0.05 } };
  expect(added({ policy })).toEqual([
    {
      label: 'cut-proposals',
      reason:
        'Proposals are sampled with top-k 40, top-p 0.9, min-p 0.05; the paper names a temperature alone.',
    },
    {
      label: 'cut-reflections',
      reason:
        'Reflections are sampled with top-k 40, top-p 0.9, min-p 0.05; the paper names a temperature alone.',
    },
  ]);
  const other = { generator: { model: 'g', sampling: { topP: 0.5 } } };
  expect(added({ reflection: other }).map(({ label }) => label)).toEqual(['generator', 'cut-reflections']);
  expect(added({ policy, reflection: { generator: { model: 'g' } } }).map(({ label }) => label)).toEqual([
    'cut-proposals',
    'generator',
  ]);
  const none = { branching: { sr: { enabled: false } }, policy };
  expect(added(none)).toEqual([]);
});

test('an IWM set that the policy proposes says what is drawn, filled and asked of whom', () => {
  const proposed = { branching: { iwm: { sampler: 'policy' } } };
  const added = (extra: object, family: string) => {
    const base = labels(written({ branching: { iwm: { enabled: false } } }), family);
    return labels(written(extra), family).filter((label) => !base.includes(label) && label !== 'iwm-k');
  };
  expect(added(proposed, 'household')).toEqual([
    'iwm-sampler',
    'iwm-one-request',
    'iwm-constant-k',
    'iwm-format',
  ]);
  expect(added(proposed, 'web')).toEqual(['iwm-one-request', 'iwm-constant-k', 'iwm-format']);
  expect(added({}, 'household')).toEqual(['iwm-format']);
  expect(added({}, 'web')).toEqual(['iwm-sampler', 'iwm-format']);
  expect(added(proposed, 'search')).toEqual(['iwm-one-request', 'iwm-constant-k', 'iwm-format']);
  const cool = { branching: { iwm: { sampler: 'policy', temperature: 0.5 } } };
  expect(added(cool, 'search')).toContain('iwm-temperature');
  expect(added(cool, 'web')).not.toContain('iwm-temperature');
  // WebShop draws at three temperatures, and mixes both samplers.
  expect(added(cool, 'shop')).toContain('iwm-temperature');
  expect(added({}, 'shop')).toEqual(['iwm-format']);
  const run = earlyExperienceRunSchema.parse(written(proposed));
  const drawn = deviationsOf(run, 'web').find(({ label }) => label === 'iwm-one-request')?.reason;
  expect(drawn).toContain(`K and ${String(samplesOf(run).iwm - run.branching.iwm.k)} more`);
});

test('a policy without thoughts is recorded where the rows hold reflections', () => {
  const policy = { model: 'm', thought: false };
  expect(labels(written({ policy }))).toContain('thought-prompt');
  expect(labels(written({ policy, reflection: { enabled: false } }))).not.toContain('thought-prompt');
  expect(labels(written({ policy, branching: { sr: { enabled: false } } }))).not.toContain('thought-prompt');
});

test('a run that writes no reflections deviates in nothing about them', () => {
  const none = { branching: { sr: { enabled: false } } };
  expect(labels(written({ ...none, reflection: { attempts: 2, unit: 'alternative' } }))).toEqual([
    'iwm-format',
  ]);
});

test('a model is loaded with room for reflections only where they are written', () => {
  const contextOf = (extra: object) =>
    modelNeeds(earlyExperienceRunSchema.parse(written({ reflection: { maxTokens: 4000 }, ...extra })), 1)
      .contextTokens;
  const without = { reflection: { enabled: false } };
  expect(contextOf({ branching: { sr: { enabled: false } } })).toBe(contextOf(without));
  expect(contextOf({})).toBeGreaterThan(contextOf(without));
});

test('the paper’s profile sets every switch that the file is silent about', () => {
  const raw = withProfile(written({ profile: 'paper' }), familyOf);
  const run = earlyExperienceRunSchema.parse(raw);
  expect(run.branching.sr).toMatchObject({
    refill: 'inadmissible-only',
    unique: true,
    extra: 0,
  });
  expect(run.reflection).toMatchObject({ template: 'paper', generator: 'self', attempts: 1 });
  expect(Object.values(run.reflection.filters).filter((value) => value === true)).toEqual([]);
  // The paper says nothing about the format, so ours stays a deviation.
  expect(labels(raw)).toEqual(['iwm-format']);
});

test('proposals beyond K are a deviation, none beyond it are not', () => {
  expect(labels(written({ policy: { model: 'm' } }))).toContain('one-request');
  const plain = written({ policy: { model: 'm' }, branching: { sr: { extra: 0 } } });
  expect(labels(plain)).not.toContain('one-request');
});

test('what the file says wins over the profile and is recorded', () => {
  const raw = withProfile(
    written({
      profile: 'paper',
      branching: { sr: { refill: 'constant-k' } },
      reflection: { attempts: 3, filters: { doubled: true } },
    }),
    familyOf,
  );
  expect(labels(raw)).toEqual(['constant-k', 'iwm-format', 'attempts', 'leak-filters']);
  const run = earlyExperienceRunSchema.parse(raw);
  expect(run.branching.sr.extra).toBe(0);
});

test('the profile knows the families: contradiction is the paper’s in BFCL and WebArena, the expert triple is not in Tau', () => {
  const family = (name: string) =>
    earlyExperienceRunSchema.parse(
      withProfile(written({ profile: 'paper', environment: { id: name } }), familyOf),
    );
  expect(family('tools').reflection.filters.contradiction).toBe(true);
  expect(family('web').reflection.filters.contradiction).toBe(true);
  expect(family('household').reflection.filters.contradiction).toBe(false);
  expect(family('desk').branching.iwm.expertTriple).toBe(false);
  expect(labels(written({ environment: { id: 'desk' } }), 'desk')).toContain('tau-expert-triple');
});

test('other runs and other profiles pass through untouched', () => {
  for (const raw of [
    null,
    3,
    'text',
    [],
    { kind: 'rollout', profile: 'paper' },
    written({ profile: 'default' }),
  ]) {
    expect(withProfile(raw, familyOf)).toBe(raw);
  }
});
