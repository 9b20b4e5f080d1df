/**
 * The expert: it sees the whole state and plans anew from wherever the game is. Every trip costs one step, so for one way to the goal
 * (which object, which receptacle) a plan is a fixed sequence: free the hands, fetch, treat, bring. The shortest over all ways wins.
 * It is not a general planner: goals beyond ALFRED's (negations, open doors) give null.
 */
import { applyAction, receptacleOf } from './actions.ts';
import type { Action } from './actions.ts';
import type { AlfredGame } from './game.ts';
import { literalHolds } from './goal.ts';
import type { Conjunction } from './goal.ts';
import { agentLocation, hasFlag, heldObject, isAccessible } from './state.ts';
import type { State } from './state.ts';
import { flag } from './world.ts';

/** A shortest plan found from the state, [] when the goal holds, null when the solver knows no way. */
export function solve(game: AlfredGame, state: State): Action[] | null {
  if (game.won(state)) return [];
  let best: Action[] | null = null;
  for (const way of game.ways() ?? []) {
    const wanted = wantedOf(way);
    if (wanted === null) continue;
    for (const order of orders(wanted.placed)) {
      const plan = planFor(
        game,
        state,
        { ...wanted, placed: order },
        best?.length ?? Number.POSITIVE_INFINITY,
      );
      if (plan !== null && (best === null || plan.length < best.length)) best = plan;
    }
  }
  return best;
}

interface Placement {
  readonly object: number;
  readonly receptacle: number;
}

interface Wanted {
  readonly placed: readonly Placement[];
  readonly flags: ReadonlyMap<number, number>;
  readonly held: number | null;
  readonly at: number | null;
}

function wantedOf(way: Conjunction): Wanted | null {
  const placed: Placement[] = [];
  const flags = new Map<number, number>();
  let held: number | null = null;
  let at: number | null = null;
  for (const { literal, positive } of way) {
    if (!positive) return null;
    switch (literal.kind) {
      case 'inside':
        if (placed.some(({ object }) => object === literal.object)) return null;
        placed.push(literal);
        break;
      case 'flag':
        flags.set(literal.object, (flags.get(literal.object) ?? 0) | literal.bit);
        break;
      case 'held':
        if (held !== null && held !== literal.object) return null;
        held = literal.object;
        break;
      case 'at':
        if (at !== null && at !== literal.location) return null;
        at = literal.location;
        break;
      default:
        return null;
    }
  }
  if (placed.some(({ object }) => object === held)) return null;
  return { placed, flags, held, at };
}

function orders(placed: readonly Placement[]): (readonly Placement[])[] {
  if (placed.length < 2) return [placed];
  if (placed.length > 4) return [placed];
  return placed.flatMap((first, index) =>
    orders(placed.filter((_, other) => other !== index)).map((rest) => [first, ...rest]),
  );
}

/** Plays the sequence on a copy; null when it is impossible or not shorter than `limit`. */
function planFor(game: AlfredGame, from: State, wanted: Wanted, limit: number): Action[] | null {
  const { world, layout } = game;
  const state = from.slice();
  const plan: Action[] = [];
  let hopeless = false;
  const act = (action: Action): void => {
    plan.push(action);
    if (plan.length >= limit) hopeless = true;
    applyAction(world, layout, state, action);
  };
  const goTo = (receptacle: number): void => {
    if (world.receptacleLocation[receptacle] !== agentLocation(state)) act({ kind: 'go', receptacle });
  };
  const access = (receptacle: number): void => {
    goTo(receptacle);
    if (!isAccessible(world, state, layout, receptacle)) act({ kind: 'open', receptacle });
  };
  /** Puts down what is in the hands: on the way to `next` if something there can take it, else where it costs least. */
  const freeHands = (next: number): boolean => {
    const object = heldObject(state);
    if (object < 0) return true;
    let chosen = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let r = 0; r < world.receptacles; r += 1) {
      if (world.receptacleLocation[r] === -1 || world.canContain[r * world.objects + object] === 0) continue;
      const there = world.receptacleLocation[r];
      const away = there === agentLocation(state) || there === next ? 0 : 1;
      // What is needed next anyway is opened anyway.
      const cost = away * 2 + (isAccessible(world, state, layout, r) ? 0 : 2) + (there === next ? 1 : 0);
      if (cost < least) {
        least = cost;
        chosen = r;
      }
    }
    if (chosen === -1) return false;
    access(chosen);
    act({ kind: 'move', object, receptacle: chosen });
    return true;
  };
  const fetch = (object: number): boolean => {
    if (heldObject(state) === object) return true;
    const source = receptacleOf(world, layout, state, object);
    if (source === -1 || world.pickupable[object] === 0 || world.receptacleLocation[source] === -1)
      return false;
    if (!freeHands(world.receptacleLocation[source] ?? -1)) return false;
    access(source);
    act({ kind: 'take', object, receptacle: source });
    return true;
  };
  const treat = (object: number, bits: number): boolean => {
    const missing = (bit: number): boolean => (bits & bit) !== 0 && !hasFlag(state, layout, object, bit);
    const at = (kind: 'clean' | 'heat' | 'cool', able: Uint8Array, appliance: Uint8Array): boolean => {
      if (able[object] === 0) return false;
      let receptacle = -1;
      for (let r = 0; r < world.receptacles; r += 1) {
        if (appliance[r] === 0 || world.receptacleLocation[r] === -1) continue;
        if (receptacle === -1 || world.receptacleLocation[r] === agentLocation(state)) receptacle = r;
      }
      if (receptacle === -1) return false;
      goTo(receptacle);
      act({ kind, object, receptacle });
      return true;
    };
    if (missing(flag.clean) && !at('clean', world.cleanable, world.sink)) return false;
    if (missing(flag.hot) && !at('heat', world.heatable, world.microwave)) return false;
    if (missing(flag.cool) && !at('cool', world.coolable, world.fridge)) return false;
    return !missing(flag.sliced);
  };
  const carried = flag.clean | flag.hot | flag.cool | flag.sliced;

  for (const { object, receptacle } of wanted.placed) {
    const bits = (wanted.flags.get(object) ?? 0) & carried;
    const isThere = literalHolds({ kind: 'inside', object, receptacle }, world, layout, state);
    const isTreated = ((state[layout.flags + object] ?? 0) & bits) === bits;
    if (isThere && isTreated) continue;
    if (world.receptacleLocation[receptacle] === -1) return null;
    if (!fetch(object) || !treat(object, bits)) return null;
    access(receptacle);
    act({ kind: 'move', object, receptacle });
    if (hopeless) return null;
  }
  for (const [object, bits] of wanted.flags) {
    if (wanted.placed.some((placement) => placement.object === object)) continue;
    const needed = bits & carried;
    if (((state[layout.flags + object] ?? 0) & needed) === needed) continue;
    if (!fetch(object) || !treat(object, needed)) return null;
  }
  if (wanted.held !== null && !fetch(wanted.held)) return null;
  for (const [object, bits] of wanted.flags) {
    if ((bits & flag.toggled) === 0 || hasFlag(state, layout, object, flag.toggled)) continue;
    const where = receptacleOf(world, layout, state, object);
    if (where === -1 || world.receptacleLocation[where] === -1 || world.toggleable[object] === 0) return null;
    goTo(where);
    act({ kind: 'use', object });
  }
  if (wanted.at !== null && wanted.at !== agentLocation(state)) {
    const there = (world.receptaclesAt[wanted.at] ?? [])[0];
    if (there === undefined) return null;
    act({ kind: 'go', receptacle: there });
  }
  return !hopeless && plan.length > 0 && game.won(state) ? plan : null;
}
