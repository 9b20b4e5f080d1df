/**
 * A PDDL problem of the ALFRED domain as plain data: what a `game.tw-pddl` file states and what the generator makes.
 * Names are in lower case, as the original planner reads them. This file knows no rules.
 */

export interface Entity {
  readonly name: string;
  readonly type: string;
}

/** A ground fact; the predicate is in lower case, e.g. `inreceptacle`. */
export interface Fact {
  readonly predicate: string;
  readonly arguments: readonly string[];
}

/** A goal. Arguments that begin with `?` are variables. */
export type Formula =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Formula[] }
  | { readonly kind: 'not'; readonly part: Formula }
  | { readonly kind: 'exists' | 'forall'; readonly variables: readonly Entity[]; readonly body: Formula }
  | { readonly kind: 'equal'; readonly left: string; readonly right: string }
  | { readonly kind: 'fact'; readonly predicate: string; readonly arguments: readonly string[] };

export interface Problem {
  readonly name: string;
  readonly entities: readonly Entity[];
  readonly init: readonly Fact[];
  readonly goal: Formula;
}

export function fact(predicate: string, ...names: string[]): Fact {
  return { predicate, arguments: names };
}
