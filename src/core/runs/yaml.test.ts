import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRun } from '#core/runs/yaml.ts';

const familyOf = (): string => 'household';

const valid = `kind: rollout
environment:
  id: household-small
  tasks: 3
policy:
  model: some.gguf
`;

describe('parseRun', () => {
  it('reads a run and fills in the defaults of the schema', () => {
    const { run, problems } = parseRun(valid, familyOf);
    expect(problems).toEqual([]);
    expect(run).toMatchObject({ kind: 'rollout', seed: 1, environment: { split: 'train', tasks: 3 } });
  });

  it('names the line and the nearest key of a misspelt one', () => {
    const { run, problems } = parseRun(`${valid}  temprature: 1\nlimits:\n  maxStep: 5\n`, familyOf);
    expect(run).toBeNull();
    expect(problems).toEqual([
      expect.objectContaining({ path: 'policy.temprature', line: 7 }),
      expect.objectContaining({
        path: 'limits.maxStep',
        line: 9,
        message: expect.stringContaining('maxSteps'),
      }),
    ]);
  });

  it('finds unknown keys inside unions and lists', () => {
    const text = `${valid}  history: { style: window, step: 4 }\n  adapters:\n    - { path: a.gguf, scal: 1 }\n`;
    expect(parseRun(text, familyOf).problems.map(({ path }) => path)).toEqual([
      'policy.history.step',
      'policy.adapters[0].scal',
    ]);
  });

  it('says the line of a wrong value and the parent’s line of a missing one', () => {
    const { problems } = parseRun(
      'kind: rollout\nenvironment:\n  id: household\n  tasks: none\npolicy: {}\n',
      familyOf,
    );
    expect(problems.map(({ path, line }) => [path, line])).toEqual([
      ['environment.tasks', 4],
      ['policy.model', 5],
    ]);
  });

  it.each([
    [
      'demonstrations: { source: foo }',
      'demonstrations.source',
      '`"foo"` is not permitted here; it takes one of `solver`, `recorded`, `import`.',
    ],
    [
      'demonstrations: {}',
      'demonstrations.source',
      'Nothing is given here; it takes one of `solver`, `recorded`, `import`.',
    ],
    [
      'reflection: { generator: other }',
      'reflection.generator',
      '`"other"` is not permitted here; it takes `self`, or a mapping.',
    ],
    [
      'reflection: { unit: step }',
      'reflection.unit',
      '`"step"` is not permitted here; it takes one of `state`, `alternative`.',
    ],
    ['branching: { sr: { k: 65 } }', 'branching.sr.k', '`65` is not permitted here; it takes at most 64.'],
    [
      'branching: { sr: { k: four } }',
      'branching.sr.k',
      '`"four"` is not permitted here; it takes a number.',
    ],
    ['limits: 3', 'limits', '`3` is not permitted here; it takes a mapping.'],
  ])('says for %j what may be there', (line, path, message) => {
    const { problems } = parseRun(`${valid.replace('rollout', 'early-experience')}${line}\n`, familyOf);
    expect(problems).toEqual([{ path, message, severity: 'error', line: 7 }]);
  });

  it('lists the kinds of run where the kind is unknown', () => {
    expect(parseRun('kind: train\n', familyOf).problems).toEqual([
      expect.objectContaining({
        path: 'kind',
        message: expect.stringContaining('`rollout`, `early-experience`'),
      }),
    ]);
  });

  it('reports broken YAML with line and column', () => {
    const { problems } = parseRun('kind: rollout\nenvironment: [a, b\npolicy: x: y\n', familyOf);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toMatchObject({
      path: '',
      line: expect.any(Number),
      message: expect.stringMatching(/column \d+/),
    });
  });

  it.each([
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n`,
    ],
    ['deep flow nesting', '['.repeat(50_000)],
    ['deep block nesting', Array.from({ length: 5_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['deep nesting on one line', '- '.repeat(20_000)],
    ['a huge text', 'a'.repeat(300_000)],
    ['a self-reference', '&a [*a]'],
    ['prototype keys', '__proto__: { kind: rollout }\nconstructor: 1\n'],
    ['several documents', 'kind: rollout\n---\nkind: rollout\n'],
    ['nothing', ''],
    ['a list', '- 1\n'],
    ['a zero byte', 'kind: \0\n'],
  ])('turns %s into problems, never into a crash', (_name, text) => {
    const { run, problems } = parseRun(text, familyOf);
    expect(run).toBeNull();
    expect(problems.length).toBeGreaterThan(0);
  });

  it('never throws on any text, and a run without errors has no problem', () => {
    const lines = valid.split('\n');
    const mutated = fc
      .array(
        fc.tuple(
          fc.nat(lines.length),
          fc.oneof(fc.string(), fc.constantFrom('  - x', '\t', '&a', '*a', '!!js x', '? y', ': :')),
        ),
        { maxLength: 6 },
      )
      .map((edits) => {
        const edited = [...lines];
        for (const [at, text] of edits) edited.splice(at, 0, text);
        return edited.join('\n');
      });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.json(), mutated), (text) => {
        const { run, problems } = parseRun(text, familyOf);
        expect(run === null).toBe(problems.length > 0);
        for (const { line } of problems) expect(line === null || line >= 1).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
