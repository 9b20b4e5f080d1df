/** Reads the problem of a game. It accepts what the official games contain and names the line of what it does not understand. */
import type { Entity, Fact, Formula, Problem } from './problem.ts';
import { parseExpression, SyntaxFault } from './s-expression.ts';
import type { Expression, List } from './s-expression.ts';

const mostEntities = 10_000;
const mostFacts = 500_000;

/** @throws SyntaxFault */
export function readProblem(source: string): Problem {
  const root = listOf(parseExpression(source), 'the problem');
  if (!isWord(root.items[0], 'define')) throw new SyntaxFault(root.line, 'expected (define (problem …) …)');
  let name = '';
  let entities: Entity[] | null = null;
  let init: Fact[] | null = null;
  let goal: Formula | null = null;
  for (const item of root.items.slice(1)) {
    const section = listOf(item, 'a section');
    const [head, ...rest] = section.items;
    const keyword = wordOf(head, section.line, 'the name of a section');
    switch (keyword) {
      case 'problem':
        name = wordOf(rest[0], section.line, 'the name of the problem');
        break;
      case ':domain': {
        const domain = wordOf(rest[0], section.line, 'the name of the domain');
        if (domain !== 'alfred')
          throw new SyntaxFault(section.line, `the domain is "${domain}", not "alfred"`);
        break;
      }
      case ':objects':
        entities = typedNames(rest, section.line);
        if (entities.length > mostEntities) {
          throw new SyntaxFault(section.line, `more than ${String(mostEntities)} objects`);
        }
        break;
      case ':init':
        init = readInit(rest, entities, section.line);
        break;
      case ':goal':
        goal = readFormula(rest[0], section.line);
        break;
      case ':requirements':
      case ':metric':
        break;
      default:
        throw new SyntaxFault(section.line, `unknown section "${keyword.slice(0, 40)}"`);
    }
  }
  if (entities === null) throw new SyntaxFault(root.line, 'the section :objects is missing');
  if (init === null) throw new SyntaxFault(root.line, 'the section :init is missing');
  if (goal === null) throw new SyntaxFault(root.line, 'the section :goal is missing');
  return { name: name === '' ? 'unnamed' : name, entities, init, goal };
}

function readInit(items: readonly Expression[], entities: readonly Entity[] | null, line: number): Fact[] {
  if (entities === null) throw new SyntaxFault(line, ':init comes before :objects');
  if (items.length > mostFacts) throw new SyntaxFault(line, `more than ${String(mostFacts)} facts`);
  const known = new Set(entities.map(({ name }) => name));
  const facts: Fact[] = [];
  for (const item of items) {
    const list = listOf(item, 'a fact');
    const predicate = wordOf(list.items[0], list.line, 'the name of a fact');
    // Distances and costs, and facts that are stated to be false, say nothing about the game.
    if (predicate === '=' || predicate === 'not') continue;
    const names = list.items.slice(1).map((term) => wordOf(term, list.line, `an argument of ${predicate}`));
    for (const term of names) {
      if (!known.has(term)) {
        throw new SyntaxFault(list.line, `"${term.slice(0, 80)}" in ${predicate} is not among :objects`);
      }
    }
    facts.push({ predicate, arguments: names });
  }
  return facts;
}

function readFormula(expression: Expression | undefined, line: number): Formula {
  if (expression === undefined) throw new SyntaxFault(line, 'a condition is missing');
  const list = listOf(expression, 'a condition');
  if (list.items.length === 0) return { kind: 'and', parts: [] };
  const keyword = wordOf(list.items[0], list.line, 'the name of a condition');
  const rest = list.items.slice(1);
  const part = (index: number): Formula => readFormula(rest[index], list.line);
  switch (keyword) {
    case 'and':
    case 'or':
      return { kind: keyword, parts: rest.map((item) => readFormula(item, list.line)) };
    case 'not':
      return { kind: 'not', part: part(0) };
    case 'imply':
      return { kind: 'or', parts: [{ kind: 'not', part: part(0) }, part(1)] };
    case 'exists':
    case 'forall':
      return {
        kind: keyword,
        variables: typedNames(listOf(rest[0] ?? list, 'the variables').items, list.line),
        body: part(1),
      };
    case '=':
      return {
        kind: 'equal',
        left: wordOf(rest[0], list.line, 'the left side'),
        right: wordOf(rest[1], list.line, 'the right side'),
      };
    default:
      return {
        kind: 'fact',
        predicate: keyword,
        arguments: rest.map((term) => wordOf(term, list.line, `an argument of ${keyword}`)),
      };
  }
}

/** `a b - type c - other`; names without a type have the type `object`. */
function typedNames(items: readonly Expression[], line: number): Entity[] {
  const entities: Entity[] = [];
  const seen = new Set<string>();
  let pending: string[] = [];
  const flush = (type: string): void => {
    for (const name of pending) entities.push({ name, type });
    pending = [];
  };
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const word = wordOf(item, item?.line ?? line, 'a name');
    if (word === '-') {
      index += 1;
      flush(wordOf(items[index], item?.line ?? line, 'a type'));
      continue;
    }
    if (seen.has(word)) throw new SyntaxFault(item?.line ?? line, `"${word.slice(0, 80)}" is declared twice`);
    seen.add(word);
    pending.push(word);
  }
  flush('object');
  return entities;
}

function isWord(expression: Expression | undefined, text: string): boolean {
  return expression?.kind === 'word' && expression.text === text;
}

function wordOf(expression: Expression | undefined, line: number, what: string): string {
  if (expression?.kind !== 'word') throw new SyntaxFault(expression?.line ?? line, `expected ${what}`);
  return expression.text;
}

function listOf(expression: Expression, what: string): List {
  if (expression.kind !== 'list') {
    throw new SyntaxFault(
      expression.line,
      `expected ${what} in parentheses but found "${expression.text.slice(0, 40)}"`,
    );
  }
  return expression;
}
