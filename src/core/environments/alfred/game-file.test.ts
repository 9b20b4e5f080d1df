import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { catalogueOf } from '../household/catalogue.ts';
import { instructionOf, problemOf, taskText } from '../household/task.ts';
import { largestGameFile, loadGameFile, readGameFile, writeGameFile } from './game-file.ts';
import { readProblem } from './problem-reader.ts';
import { writeProblem } from './problem-writer.ts';
import { parseExpression, SyntaxFault } from './s-expression.ts';

const [combination] = catalogueOf('household-small');
if (combination === undefined) throw new Error('the catalogue is empty');
const problem = problemOf('household-small', combination);
const text = writeGameFile(problem, taskText(instructionOf('household-small', combination)));
const fields = JSON.parse(text) as {
  pddl_domain: string;
  grammar: string;
  pddl_problem: string;
  walkthrough: string[];
};

function refusal(content: string): AppError {
  try {
    loadGameFile('some/game.tw-pddl', content);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

describe('a game file', () => {
  it('comes back as the problem and task that were written, for every type of task', () => {
    for (const entry of catalogueOf('household-small').slice(0, 60)) {
      const source = problemOf('household-small', entry);
      const task = taskText(instructionOf('household-small', entry));
      const {
        problem: back,
        taskText: taskBack,
        solvable,
      } = readGameFile('game', writeGameFile(source, task));
      expect(back).toEqual(source);
      expect(taskBack).toBe(task);
      expect(solvable).toBe(true);
    }
  });

  it('carries a walkthrough that wins', () => {
    const { game } = loadGameFile('game', text);
    const state = game.start();
    for (const action of fields.walkthrough) {
      const command = game.commands(state).find((candidate) => candidate.text === action);
      if (command === undefined) throw new Error(`${action} is not admissible`);
      game.apply(state, command);
    }
    expect(game.won(state)).toBe(true);
    expect(fields.walkthrough.length).toBeGreaterThan(2);
  });

  it('is accepted with other white space, comments, capitals, costs and distances, as the official files have them', () => {
    const official = fields.pddl_problem
      .replace(
        '(:init',
        '(:metric minimize (total-cost))\n(:init ; a comment with ümlauts\n (= (total-cost) 0) (= (distance a b) 3)',
      )
      .replaceAll('agent1', 'Agent1');
    const content = JSON.stringify({
      ...fields,
      pddl_domain: `;; another comment\n${fields.pddl_domain.replaceAll('\n', '\r\n  ')}`,
      grammar: fields.grammar.replaceAll('    ', '\t'),
      pddl_problem: official,
    });
    expect(readGameFile('game', content).problem.init).toEqual(problem.init);
  });

  it('keeps a task sentence with quotes and dollar signs', () => {
    const task = 'Your task is to: put "the $1 mug" in desk.';
    const grammar = fields.grammar.replace(/Your task is to: [^"]*/, () => task.replaceAll('"', '\\"'));
    expect(readGameFile('game', JSON.stringify({ ...fields, grammar })).taskText).toBe(task);
  });

  it('is refused with file and reason when its domain has other rules', () => {
    const content = JSON.stringify({
      ...fields,
      pddl_domain: fields.pddl_domain.replace('(not (holdsAny ?a))', '(holdsAny ?a)'),
    });
    expect(refusal(content)).toMatchObject({ code: 'ENVIRONMENT_DATA_INVALID' });
    expect(refusal(content).message).toMatch(
      /some\/game\.tw-pddl: its pddl_domain is not the one of ALFWorld 0\.4/,
    );
  });

  it('is refused with file and reason when its grammar has other sentences', () => {
    const content = JSON.stringify({ ...fields, grammar: fields.grammar.replace('You pick up', 'You grab') });
    expect(refusal(content).message).toMatch(/some\/game\.tw-pddl: its grammar is not the one/);
  });

  it('is refused with the line of the fault in its problem', () => {
    const lines = fields.pddl_problem.split('\n');
    const at = lines.findIndex((line) => line.includes('(pickupable'));
    lines[at] = '    (pickupable nobody_knows_it)';
    const error = refusal(JSON.stringify({ ...fields, pddl_problem: lines.join('\n') }));
    expect(error.message).toContain(`line ${String(at + 1)} of pddl_problem`);
    expect(error.message).toContain('"nobody_knows_it" in pickupable is not among :objects');
  });

  it.each([
    ['not JSON', '{"pddl_domain": '],
    ['a JSON list', '[]'],
    ['a missing field', JSON.stringify({ ...fields, grammar: undefined })],
    ['a number for the problem', JSON.stringify({ ...fields, pddl_problem: 7 })],
    ['an empty problem', JSON.stringify({ ...fields, pddl_problem: '' })],
    ['a truncated problem', JSON.stringify({ ...fields, pddl_problem: fields.pddl_problem.slice(0, -40) })],
    [
      'another domain name',
      JSON.stringify({ ...fields, pddl_problem: fields.pddl_problem.replace(':domain alfred', ':domain x') }),
    ],
    [
      'no agent',
      JSON.stringify({
        ...fields,
        pddl_problem: fields.pddl_problem.replace('agent1 - agent', 'agent1 - object'),
      }),
    ],
    [
      'two places of the agent',
      JSON.stringify({
        ...fields,
        pddl_problem: fields.pddl_problem.replace(
          '(:init',
          `(:init (atlocation agent1 ${String(problem.entities.at(-1)?.name)})(atlocation agent1 ${String(problem.entities.at(-2)?.name)})`,
        ),
      }),
    ],
    [
      'an impossible goal',
      JSON.stringify({
        ...fields,
        pddl_problem: fields.pddl_problem.replace(
          /\(:goal .*/,
          '(:goal (and (exists (?o - object) (objecttype ?o unicorntype)))))',
        ),
      }),
    ],
    [
      'an unbound goal',
      JSON.stringify({
        ...fields,
        pddl_problem: fields.pddl_problem.replace(/\(:goal .*/, '(:goal (holds agent1 ?o)))'),
      }),
    ],
  ])('is refused with a reason: %s', (_, content) => {
    const error = refusal(content);
    expect(error.code).toBe('ENVIRONMENT_DATA_INVALID');
    expect(error.message).toMatch(/^some\/game\.tw-pddl/);
    expect(error.message.length).toBeGreaterThan(30);
  });

  it('is refused when it is larger than any game, without being parsed', () => {
    expect(refusal('x'.repeat(largestGameFile + 1)).message).toMatch(/larger than/);
  });

  it('never fails in any other way, however it is damaged', () => {
    const position = fc.nat({ max: text.length });
    fc.assert(
      fc.property(
        position,
        fc.nat({ max: 60 }),
        fc.string({ unit: 'binary', maxLength: 12 }),
        (at, cut, put) => {
          const damaged = text.slice(0, at) + put + text.slice(at + cut);
          try {
            loadGameFile('game', damaged);
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            expect((error as AppError).code).toBe('ENVIRONMENT_DATA_INVALID');
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a problem', () => {
  it('never fails in any other way than by a line and a reason', () => {
    const source = writeProblem(problem);
    const word = fc.constantFrom(
      '(',
      ')',
      '?o',
      '-',
      'object',
      '(:init',
      '(:goal',
      '(and',
      '(exists',
      '(not',
      '=',
      ';',
      'é',
      '(:objects',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.nat({ max: source.length }),
        fc.nat({ max: 200 }),
        fc.array(word, { maxLength: 12 }),
        (at, cut, put) => {
          try {
            readProblem(source.slice(0, at) + put.join(' ') + source.slice(at + cut));
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxFault);
            expect((error as SyntaxFault).line).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('nested too deep is refused instead of overflowing the stack', () => {
    expect(() => parseExpression('('.repeat(100_000))).toThrow(/nested deeper than 64/);
  });
});

it('a game whose target stands nowhere is refused, as the original refuses it', () => {
  const target = `${combination.target}_bar_`;
  const nowhere = {
    ...problem,
    init: problem.init.filter(
      (entry) =>
        entry.predicate !== 'receptacleatlocation' ||
        entry.arguments[0]?.includes(target.replace('sinkbasin', 'sink')) !== true,
    ),
  };
  const content = JSON.stringify({ ...fields, pddl_problem: writeProblem(nowhere) });
  expect(refusal(content).message).toMatch(/goal can never be reached/);
});
