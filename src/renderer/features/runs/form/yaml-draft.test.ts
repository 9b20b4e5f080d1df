import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDraft, valueAt, withValue } from './yaml-draft.ts';

const text = `# title: mine
kind: early-experience
seed: 1 # the seed
policy:
  model: '' # a model id
  sampling:
    temperature: 0.4
# before branching
branching:
  iwm:
    k: 8
`;

function value(yaml: string, path: string[]): unknown {
  const draft = readDraft(yaml);
  if (!draft.ok) throw new Error(draft.message);
  return valueAt(draft.document, path);
}

describe('the YAML draft', () => {
  it('keeps every comment when a value changes', () => {
    const changed = withValue(withValue(text, ['seed'], 7), ['policy', 'model'], 'abc');
    for (const comment of ['# title: mine', '# the seed', '# a model id', '# before branching']) {
      expect(changed).toContain(comment);
    }
    expect(value(changed, ['seed'])).toBe(7);
    expect(value(changed, ['policy', 'model'])).toBe('abc');
  });

  it('makes the mappings on the way to a new value', () => {
    const changed = withValue(text, ['reflection', 'filters', 'minWords'], 9);
    expect(value(changed, ['reflection', 'filters', 'minWords'])).toBe(9);
    expect(changed).toContain('# before branching');
  });

  it('takes a key away with the mappings that it leaves empty', () => {
    const changed = withValue(text, ['branching', 'iwm', 'k'], undefined);
    expect(value(changed, ['branching'])).toBeUndefined();
    expect(value(changed, ['policy', 'sampling', 'temperature'])).toBe(0.4);
  });

  it('replaces a word by an object where a deeper value is set', () => {
    const word = withValue(text, ['reflection', 'generator'], 'self');
    const changed = withValue(word, ['reflection', 'generator', 'model'], 'abc');
    expect(value(changed, ['reflection', 'generator'])).toEqual({ model: 'abc' });
  });

  it('says in one line and with its number what is wrong with broken YAML', () => {
    const draft = readDraft('kind: rollout\npolicy: {model: [\n');
    expect(draft).toMatchObject({ ok: false });
    if (!draft.ok) expect(draft.message.length).toBeGreaterThan(5);
    expect(readDraft('- a\n- b\n')).toMatchObject({ ok: false, line: 1 });
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
        (yaml, path) => {
          const draft = readDraft(yaml);
          if (draft.ok) valueAt(draft.document, path);
        },
      ),
    );
  });

  it('gives back what was set, for any scalar', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer(), fc.boolean(), fc.string({ maxLength: 40 }), fc.constant(null)),
        (scalar) => {
          expect(value(withValue(text, ['policy', 'maxTokens'], scalar), ['policy', 'maxTokens'])).toEqual(
            scalar,
          );
        },
      ),
    );
  });
});
