/** Writes a problem as PDDL that the original engine plays. */
import type { Entity, Formula, Problem } from './problem.ts';

export function writeProblem(problem: Problem): string {
  return [
    `(define (problem ${problem.name})`,
    '  (:domain alfred)',
    '  (:objects',
    ...problem.entities.map(({ name, type }) => `    ${name} - ${type}`),
    '  )',
    '  (:init',
    ...problem.init.map((entry) => `    (${[entry.predicate, ...entry.arguments].join(' ')})`),
    '  )',
    `  (:goal ${writeFormula(problem.goal)})`,
    ')',
    '',
  ].join('\n');
}

function writeFormula(formula: Formula): string {
  switch (formula.kind) {
    case 'and':
    case 'or':
      return `(${[formula.kind, ...formula.parts.map(writeFormula)].join(' ')})`;
    case 'not':
      return `(not ${writeFormula(formula.part)})`;
    case 'exists':
    case 'forall':
      return `(${formula.kind} (${formula.variables.map(writeVariable).join(' ')}) ${writeFormula(formula.body)})`;
    case 'equal':
      return `(= ${formula.left} ${formula.right})`;
    case 'fact':
      return `(${[formula.predicate, ...formula.arguments].join(' ')})`;
  }
}

function writeVariable({ name, type }: Entity): string {
  return `${name} - ${type}`;
}
