import { describe, expect, it } from 'vitest';
import type { Field } from '../../../ui/form/fields.ts';
import { sectionsOf } from './sections.ts';

function flat(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => {
    if (field.kind === 'group' || field.kind === 'groups' || field.kind === 'word-or-group')
      return [field, ...flat(field.fields)];
    if (field.kind === 'variants')
      return [field, ...field.variants.flatMap((variant) => flat(variant.fields))];
    return [field];
  });
}
const all = flat(sectionsOf('early-experience').flatMap((section) => section.fields));
const find = (path: string) => all.find((field) => field.path.join('.') === path);

describe('the form of a run', () => {
  it('follows the pipeline', () => {
    expect(sectionsOf('early-experience').map(({ id }) => id)).toEqual([
      'run',
      'environment',
      'demonstrations',
      'policy',
      'branching',
      'reflection',
      'export',
      'limits',
    ]);
  });

  it('takes title, unit, range, default and the paper’s value from the schema', () => {
    expect(find('branching.iwm.k')).toMatchObject({
      kind: 'number',
      integer: true,
      min: 1,
      max: 64,
      defaultValue: 8,
      meta: { title: 'K', unit: 'alternatives a state', paper: '8', advanced: false },
    });
    expect(find('limits.maxSteps')).toMatchObject({ kind: 'number', nullable: true, defaultValue: null });
    expect(find('policy.sampling.topK')?.meta.advanced).toBe(true);
  });

  it('knows unions: the demonstrations’ source, history, and a generator that is a word or a role', () => {
    expect(find('demonstrations')).toMatchObject({ kind: 'variants', discriminator: 'source' });
    expect(find('policy.history')).toMatchObject({ kind: 'variants', defaultValue: { style: 'append' } });
    expect(find('reflection.generator')).toMatchObject({ kind: 'word-or-group', words: ['self'] });
    expect(find('reflection.generator.model')?.kind).toBe('text');
    expect(find('policy.adapters')?.kind).toBe('groups');
  });

  it('gives every field a title in words', () => {
    for (const field of all) expect(field.meta.title, field.path.join('.')).toMatch(/^[\p{L}]/u);
  });
});
