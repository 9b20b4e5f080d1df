import { describe, expect, it } from 'vitest';
import { trainRunSchema } from '#shared/schema/training.ts';
import { checkDraft, datasetOf, draftOf, withValueIn } from './draft.ts';
import { trainingSections } from './sections.ts';

const whole = { dataset: { folder: '/rows' }, base: 'm' };

describe('the draft of a training', () => {
  it('takes an emptied group away with its last key', () => {
    const draft = withValueIn({}, ['weights', 'rank'], 4);
    expect(draft).toEqual({ weights: { rank: 4 } });
    expect(withValueIn(draft, ['weights', 'rank'], undefined)).toEqual({});
  });

  it('tells a stored data set from a folder', () => {
    expect(datasetOf('a', ['a', 'b'])).toEqual({ datasetId: 'a' });
    expect(datasetOf('/rows', ['a', 'b'])).toEqual({ folder: '/rows' });
    expect(datasetOf('', ['a'])).toBeUndefined();
  });

  it('says in words what is missing, and names the field of a bad number', () => {
    const { run, problems } = checkDraft({ base: 'm', batchRows: 0 });
    expect(run).toBeNull();
    expect(problems.map(({ path }) => path).toSorted()).toEqual(['batchRows', 'dataset']);
    expect(problems.find(({ path }) => path === 'dataset')?.message).toContain('Choose a data set');
  });

  it('is what the schema makes of it: absent keys have its defaults', () => {
    expect(checkDraft(whole).run).toEqual(trainRunSchema.parse(whole));
  });

  it('copies of an earlier training only what differs from the defaults, and starts the same run', () => {
    const run = trainRunSchema.parse({
      ...whole,
      recipe: 'sr',
      adapter: { path: '/a.gguf' },
      schedule: { kind: 'linear' },
      weights: { rank: 4, alpha: 8 },
    });
    expect(draftOf(run)).toEqual({
      ...whole,
      recipe: 'sr',
      adapter: { path: '/a.gguf' },
      schedule: { kind: 'linear' },
      weights: { rank: 4, alpha: 8 },
    });
    expect(checkDraft(draftOf(run)).run).toEqual(run);
  });
});

describe('the form of a training', () => {
  const keys = (draft: Record<string, unknown>) =>
    trainingSections(([key = '', inner]) => {
      const value = draft[key];
      return inner === undefined ? value : (value as Record<string, unknown> | undefined)?.[inner];
    }).flatMap(({ fields }) => fields.map(({ path }) => path.join('.')));

  it('has every field of the schema once, when all of them matter', () => {
    const shown = keys({ recipe: 'iwm-il', optimizer: 'muon' }).map((path) => path.split('.')[0]);
    const expected = Object.keys(trainRunSchema.shape).filter((key) => key !== 'kind');
    expect([...new Set(shown)].toSorted()).toEqual(expected.toSorted());
  });

  it('leaves out what the other choices make meaningless', () => {
    expect(keys({})).not.toContain('iwmEpochs');
    expect(keys({})).not.toContain('muonFactor');
    expect(keys({})).toContain('weights.rank');
    expect(keys({ weights: { kind: 'full' } })).not.toContain('weights.rank');
    expect(keys({ weights: { kind: 'full' } })).not.toContain('adapter');
  });
});
