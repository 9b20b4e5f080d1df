/**
 * Goals. A problem's goal (quantifiers over typed entities) is grounded once at load: facts that can never change are decided,
 * and what is left is a small formula over the state. Its disjunctive form feeds the solver.
 */
import { AppError } from '#shared/errors.ts';
import type { Formula } from './problem.ts';
import { agentLocation, hasFlag, heldObject, includes, isOpen } from './state.ts';
import type { State, StateLayout } from './state.ts';
import { factKey, flagOfPredicate } from './world.ts';
import type { World } from './world.ts';

export type Literal =
  | { readonly kind: 'inside'; readonly object: number; readonly receptacle: number }
  | { readonly kind: 'flag'; readonly object: number; readonly bit: number }
  | { readonly kind: 'near'; readonly object: number; readonly location: number }
  | { readonly kind: 'held'; readonly object: number }
  | { readonly kind: 'holding' }
  | { readonly kind: 'at'; readonly location: number }
  | { readonly kind: 'opened'; readonly receptacle: number };

export type GroundGoal =
  | boolean
  | { readonly kind: 'and' | 'or'; readonly parts: readonly GroundGoal[] }
  | { readonly kind: 'not'; readonly part: GroundGoal }
  | { readonly kind: 'literal'; readonly literal: Literal };

/** One way to reach the goal: literals that must hold together. `positive: false` must not hold. */
export type Conjunction = readonly { readonly literal: Literal; readonly positive: boolean }[];

const largestGoal = 200_000;
const largestForm = 4096;
/** Changed by actions, but kept by no state here, because no sentence of the game depends on them. */
const untracked = new Set([
  'checked',
  'examined',
  'full',
  'isreceptacleobjectfull',
  'holdsanyreceptacleobject',
]);

type Bindings = ReadonlyMap<string, string>;

/** @throws AppError ENVIRONMENT_DATA_INVALID for a goal that uses an unknown predicate or has too many instances */
export function groundGoal(world: World): GroundGoal {
  let work = 0;
  const reject = (reason: string): AppError =>
    new AppError({ code: 'ENVIRONMENT_DATA_INVALID', message: `The goal cannot be checked: ${reason}.` });

  const ground = (formula: Formula, bound: Bindings): GroundGoal => {
    work += 1;
    if (work > largestGoal) throw reject('it has too many instances');
    switch (formula.kind) {
      case 'and':
      case 'or': {
        const parts: GroundGoal[] = [];
        for (const part of formula.parts) {
          const grounded = ground(part, bound);
          if (grounded === (formula.kind === 'or')) return grounded;
          if (typeof grounded !== 'boolean') parts.push(grounded);
        }
        return combined(formula.kind, parts);
      }
      case 'not':
        return negated(ground(formula.part, bound));
      case 'equal':
        return value(formula.left, bound) === value(formula.right, bound);
      case 'fact':
        return groundFact(formula.predicate, formula.arguments, bound);
      case 'exists':
      case 'forall':
        return quantified(formula.kind, formula.variables, formula.body, bound);
    }
  };

  const value = (term: string, bound: Bindings): string => {
    if (!term.startsWith('?')) return term;
    const found = bound.get(term);
    if (found === undefined) throw reject(`${term} is not bound`);
    return found;
  };

  const quantified = (
    kind: 'exists' | 'forall',
    variables: readonly { name: string; type: string }[],
    body: Formula,
    bound: Bindings,
  ): GroundGoal => {
    const [variable, ...rest] = variables;
    if (variable === undefined) return ground(body, bound);
    const parts: GroundGoal[] = [];
    for (const entity of world.index.byType.get(variable.type) ?? []) {
      const inner = new Map(bound).set(variable.name, entity);
      work += 1;
      if (work > largestGoal) throw reject('it has too many instances');
      if (kind === 'exists' && isFalseAlready(body, inner)) continue;
      const grounded = quantified(kind, rest, body, inner);
      if (grounded === (kind === 'exists')) return grounded;
      if (typeof grounded !== 'boolean') parts.push(grounded);
    }
    return combined(kind === 'exists' ? 'or' : 'and', parts);
  };

  /** A conjunct that is bound and false for ever saves the loops over the other variables. */
  const isFalseAlready = (body: Formula, bound: Bindings): boolean => {
    if (body.kind === 'fact') {
      const isBound = body.arguments.every((term) => !term.startsWith('?') || bound.has(term));
      return isBound && groundFact(body.predicate, body.arguments, bound) === false;
    }
    if (body.kind === 'and') return body.parts.some((part) => isFalseAlready(part, bound));
    // Looks through an inner quantifier, unless it uses a bound name again.
    if (body.kind !== 'exists' || body.variables.some(({ name }) => bound.has(name))) return false;
    return isFalseAlready(body.body, bound);
  };

  const groundFact = (predicate: string, terms: readonly string[], bound: Bindings): GroundGoal => {
    const names = terms.map((term) => value(term, bound));
    const [first = '', second = ''] = names;
    const literal = (made: Literal): GroundGoal => ({ kind: 'literal', literal: made });
    if (untracked.has(predicate)) throw reject(`it asks for \`${predicate}\`, which no official task does`);
    const bit = flagOfPredicate(predicate);
    if (bit !== 0) {
      const object = world.index.object.get(first);
      return object === undefined ? false : literal({ kind: 'flag', object, bit });
    }
    switch (predicate) {
      case 'inreceptacle': {
        const object = world.index.object.get(first);
        const receptacle = world.index.receptacle.get(second);
        if (object === undefined || receptacle === undefined) return false;
        const atStart = world.facts.has(factKey(predicate, names));
        const movable = world.pickupable[object] === 1 || world.start.held === object;
        if (!movable) return atStart;
        const isReachable =
          world.canContain[receptacle * world.objects + object] === 1 &&
          world.receptacleLocation[receptacle] !== -1;
        if (!atStart && !isReachable) return false;
        return literal({ kind: 'inside', object, receptacle });
      }
      case 'objectatlocation': {
        const object = world.index.object.get(first);
        const location = world.index.location.get(second);
        return object === undefined || location === undefined
          ? false
          : literal({ kind: 'near', object, location });
      }
      case 'atlocation': {
        const location = world.index.location.get(second);
        return location === undefined ? false : literal({ kind: 'at', location });
      }
      case 'holds': {
        const object = world.index.object.get(second);
        return object === undefined ? false : literal({ kind: 'held', object });
      }
      case 'holdsany':
        return literal({ kind: 'holding' });
      case 'opened': {
        const receptacle = world.index.receptacle.get(first);
        return receptacle === undefined ? false : literal({ kind: 'opened', receptacle });
      }
      default:
        return world.facts.has(factKey(predicate, names));
    }
  };

  return ground(world.goal, new Map());
}

function combined(kind: 'and' | 'or', parts: readonly GroundGoal[]): GroundGoal {
  const [only] = parts;
  if (only === undefined) return kind === 'and';
  return parts.length === 1 ? only : { kind, parts };
}

function negated(goal: GroundGoal): GroundGoal {
  return typeof goal === 'boolean' ? !goal : { kind: 'not', part: goal };
}

export function goalHolds(goal: GroundGoal, world: World, layout: StateLayout, state: State): boolean {
  if (typeof goal === 'boolean') return goal;
  switch (goal.kind) {
    case 'and':
      return goal.parts.every((part) => goalHolds(part, world, layout, state));
    case 'or':
      return goal.parts.some((part) => goalHolds(part, world, layout, state));
    case 'not':
      return !goalHolds(goal.part, world, layout, state);
    case 'literal':
      return literalHolds(goal.literal, world, layout, state);
  }
}

export function literalHolds(literal: Literal, world: World, layout: StateLayout, state: State): boolean {
  switch (literal.kind) {
    case 'inside':
      return includes(state, layout.inside + literal.receptacle * world.setWords, literal.object);
    case 'near':
      return includes(state, layout.near + literal.location * world.setWords, literal.object);
    case 'flag':
      return hasFlag(state, layout, literal.object, literal.bit);
    case 'held':
      return heldObject(state) === literal.object;
    case 'holding':
      return heldObject(state) >= 0;
    case 'at':
      return agentLocation(state) === literal.location;
    case 'opened':
      return isOpen(state, layout, literal.receptacle);
  }
}

/** All ways to reach the goal, without repeats, or null where there are too many to look at one by one. */
export function waysToGoal(goal: GroundGoal): Conjunction[] | null {
  const ways = disjunctive(goal, true);
  if (ways === null) return null;
  const unique = new Map<string, Conjunction>();
  for (const way of ways) {
    const entries = new Map(way.map((entry) => [JSON.stringify(entry), entry]));
    unique.set([...entries.keys()].toSorted().join(), [...entries.values()]);
  }
  return [...unique.values()];
}

function disjunctive(goal: GroundGoal, positive: boolean): Conjunction[] | null {
  if (typeof goal === 'boolean') return goal === positive ? [[]] : [];
  if (goal.kind === 'literal') return [[{ literal: goal.literal, positive }]];
  if (goal.kind === 'not') return disjunctive(goal.part, !positive);
  if ((goal.kind === 'or') === positive) {
    const all: Conjunction[] = [];
    for (const part of goal.parts) {
      const ways = disjunctive(part, positive);
      if (ways === null || all.length + ways.length > largestForm) return null;
      all.push(...ways);
    }
    return all;
  }
  let product: Conjunction[] = [[]];
  for (const part of goal.parts) {
    const ways = disjunctive(part, positive);
    if (ways === null || product.length * ways.length > largestForm) return null;
    product = product.flatMap((left) => ways.map((right) => [...left, ...right]));
  }
  return product;
}
