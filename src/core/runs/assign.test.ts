import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { assign } from '#core/runs/assign.ts';
import { parseRun } from '#core/runs/yaml.ts';

const familyOf = (): string => 'household';

const text = `# mine
kind: early-experience
environment:
  id: household # the large one
policy:
  model: a.gguf
`;

describe('assign', () => {
  it('sets dotted paths and keeps the comments', () => {
    const edited = assign(text, ['branching.sr.k=4', 'environment.tasks=7', 'name=My run']);
    expect(edited).toContain('# mine');
    expect(edited).toContain('# the large one');
    expect(parseRun(edited, familyOf).run).toMatchObject({
      name: 'My run',
      environment: { tasks: 7 },
      branching: { sr: { k: 4 } },
    });
  });

  it('reads values as YAML, and what is no YAML as text', () => {
    const edited = assign(text, ['environment.taskTypes=[pick, cool]', 'policy.model=C:\\models: a\\b.gguf']);
    expect(parseRun(edited, familyOf).run).toMatchObject({
      environment: { taskTypes: ['pick', 'cool'] },
      policy: { model: 'C:\\models: a\\b.gguf' },
    });
  });

  it.each(['*anchor', '[1, 2', '{a', '"'])('takes %j as text', (value) => {
    expect(parseRun(assign(text, [`policy.model=${value}`]), familyOf).run).toMatchObject({
      policy: { model: value },
    });
  });

  it('lets the run check complain about a key that does not exist', () => {
    expect(parseRun(assign(text, ['branching.sr.kay=4']), familyOf).problems[0]).toMatchObject({
      path: 'branching.sr.kay',
      message: expect.stringContaining('`k`'),
    });
  });

  it.each(['', '=1', 'a', 'a..b=1', '.a=1'])('refuses %j and says how it is written', (assignment) => {
    expect(() => assign(text, [assignment])).toThrow(/key=value/);
  });

  it('names the line where the text is no YAML', () => {
    expect(() => assign('kind: rollout\npolicy: [a\n', ['seed=2'])).toThrow(/^line \d+: /);
  });

  it('replaces a scalar that stands in the way of a deeper key', () => {
    expect(
      parseRun(
        assign('kind: rollout\npolicy: x\nenvironment: 3\n', ['policy.model=a', 'environment.id=household']),
        familyOf,
      ).run,
    ).toMatchObject({
      policy: { model: 'a' },
      environment: { id: 'household' },
    });
  });

  it('throws nothing but AppErrors, whatever is assigned', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (assignments) => {
        try {
          assign(text, assignments);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(AppError);
        }
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9.]{1,12}=.{0,10}$/), (assignment) => {
        try {
          parseRun(assign(text, [assignment]), familyOf);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(AppError);
        }
      }),
      { numRuns: 300 },
    );
  });
});
