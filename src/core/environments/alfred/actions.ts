/**
 * The actions of the domain: which are applicable, their commands in the original's order, and their effects. The original sorts
 * all commands as strings; no verb is a prefix of another, so walking the verbs alphabetically and sorting inside each is the same.
 */
import {
  agentLocation,
  clearFlag,
  exclude,
  flipOn,
  heldObject,
  include,
  includes,
  isAccessible,
  isOpen,
  members,
  setFlag,
  setHeld,
  setLocation,
} from './state.ts';
import type { State, StateLayout } from './state.ts';
import { flag } from './world.ts';
import type { World } from './world.ts';

export type Action =
  | {
      readonly kind: 'clean' | 'cool' | 'heat' | 'move' | 'take';
      readonly object: number;
      readonly receptacle: number;
    }
  | { readonly kind: 'close' | 'open' | 'go' | 'examine-receptacle'; readonly receptacle: number }
  | { readonly kind: 'examine-object' | 'use'; readonly object: number }
  | { readonly kind: 'slice'; readonly object: number; readonly knife: number }
  | { readonly kind: 'help' | 'inventory' | 'look' };

export interface Command {
  readonly text: string;
  readonly action: Action;
}

const help: Command = { text: 'help', action: { kind: 'help' } };
const inventory: Command = { text: 'inventory', action: { kind: 'inventory' } };
const look: Command = { text: 'look', action: { kind: 'look' } };

function byText(a: Command, b: Command): number {
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
}

export function commandText(world: World, action: Action): string {
  switch (action.kind) {
    case 'clean':
    case 'cool':
    case 'heat':
      return `${action.kind} ${objectName(world, action.object)} with ${receptacleName(world, action.receptacle)}`;
    case 'move':
      return `move ${objectName(world, action.object)} to ${receptacleName(world, action.receptacle)}`;
    case 'take':
      return `take ${objectName(world, action.object)} from ${receptacleName(world, action.receptacle)}`;
    case 'close':
    case 'open':
      return `${action.kind} ${receptacleName(world, action.receptacle)}`;
    case 'go':
      return `go to ${receptacleName(world, action.receptacle)}`;
    case 'examine-receptacle':
      return `examine ${receptacleName(world, action.receptacle)}`;
    case 'examine-object':
      return `examine ${objectName(world, action.object)}`;
    case 'use':
      return `use ${objectName(world, action.object)}`;
    case 'slice':
      return `slice ${objectName(world, action.object)} with ${objectName(world, action.knife)}`;
    case 'help':
    case 'inventory':
    case 'look':
      return action.kind;
  }
}

export function objectName(world: World, object: number): string {
  return world.objectName[object] ?? '';
}

export function receptacleName(world: World, receptacle: number): string {
  return world.receptacleName[receptacle] ?? '';
}

/** Commands that lead away from a location; they never change, so a game computes them once for each place. */
export function goCommands(world: World, location: number): Command[] {
  const commands: Command[] = [];
  for (let r = 0; r < world.receptacles; r += 1) {
    const there = world.receptacleLocation[r];
    // The planner drops "go to" its own location, as an action without effect: also for a neighbour at the same location.
    if (there === undefined || there === -1 || there === location) continue;
    const action: Action = { kind: 'go', receptacle: r };
    commands.push({ text: commandText(world, action), action });
  }
  return commands.sort(byText);
}

/** Every admissible command in the original's order. `go` is `goCommands` of the present location. */
export function admissibleCommands(
  world: World,
  layout: StateLayout,
  state: State,
  go: readonly Command[],
): Command[] {
  const here = world.receptaclesAt[agentLocation(state)] ?? [];
  const held = heldObject(state);
  const all: Command[] = [];
  const add = (group: Action[]): void => {
    const first = all.length;
    for (const action of group) all.push({ text: commandText(world, action), action });
    if (group.length > 1) sortTail(all, first);
  };
  const withReceptacle = (kind: 'clean' | 'cool' | 'heat', able: Uint8Array, appliance: Uint8Array): void => {
    if (held < 0 || able[held] === 0) return;
    add(here.filter((r) => appliance[r] === 1).map((receptacle) => ({ kind, object: held, receptacle })));
  };

  withReceptacle('clean', world.cleanable, world.sink);
  const openables = here.filter((r) => world.openable[r] === 1);
  add(openables.filter((r) => isOpen(state, layout, r)).map((receptacle) => ({ kind: 'close', receptacle })));
  withReceptacle('cool', world.coolable, world.fridge);
  const examined: Action[] = here.map((receptacle) => ({ kind: 'examine-receptacle', receptacle }));
  // Only what is held can be examined: the domain's other branch quantifies over a type that does not exist.
  if (held >= 0) examined.push({ kind: 'examine-object', object: held });
  add(examined);
  for (const command of go) all.push(command);
  withReceptacle('heat', world.heatable, world.microwave);
  all.push(help, inventory, look);
  if (held >= 0) {
    add(
      here
        .filter(
          (r) => world.canContain[r * world.objects + held] === 1 && isAccessible(world, state, layout, r),
        )
        .map((receptacle) => ({ kind: 'move', object: held, receptacle })),
    );
  }
  add(openables.filter((r) => !isOpen(state, layout, r)).map((receptacle) => ({ kind: 'open', receptacle })));
  if (held >= 0 && world.knife[held] === 1) {
    const near = members(state, layout.near + agentLocation(state) * world.setWords, world.setWords, []);
    add(
      near.filter((o) => world.sliceable[o] === 1).map((object) => ({ kind: 'slice', object, knife: held })),
    );
  }
  const takes: Action[] = [];
  const uses = new Set<number>();
  for (const receptacle of here) {
    const contents = members(state, layout.inside + receptacle * world.setWords, world.setWords, []);
    const accessible = held < 0 && isAccessible(world, state, layout, receptacle);
    for (const object of contents) {
      if (accessible && world.pickupable[object] === 1) takes.push({ kind: 'take', object, receptacle });
      // A switch is in reach even inside a closed receptacle.
      if (world.toggleable[object] === 1) uses.add(object);
    }
  }
  add(takes);
  add([...uses].map((object) => ({ kind: 'use', object })));
  return all;
}

function sortTail(commands: Command[], first: number): void {
  for (let i = first + 1; i < commands.length; i += 1) {
    const moving = commands[i];
    if (moving === undefined) return;
    let j = i - 1;
    for (; j >= first; j -= 1) {
      const other = commands[j];
      if (other === undefined || other.text <= moving.text) break;
      commands[j + 1] = other;
    }
    commands[j + 1] = moving;
  }
}

/** The effects of an applicable action. */
export function applyAction(world: World, layout: StateLayout, state: State, action: Action): void {
  switch (action.kind) {
    case 'go':
      setLocation(state, world.receptacleLocation[action.receptacle] ?? 0);
      return;
    case 'open':
      state[layout.opened + action.receptacle] = 1;
      return;
    case 'close':
      state[layout.opened + action.receptacle] = 0;
      return;
    case 'take':
      exclude(state, layout.inside + action.receptacle * world.setWords, action.object);
      include(state, layout.removed + action.receptacle * world.setWords, action.object);
      exclude(state, layout.near + agentLocation(state) * world.setWords, action.object);
      setHeld(state, action.object);
      return;
    case 'move':
      include(state, layout.inside + action.receptacle * world.setWords, action.object);
      exclude(state, layout.removed + action.receptacle * world.setWords, action.object);
      include(state, layout.near + agentLocation(state) * world.setWords, action.object);
      setHeld(state, -1);
      return;
    case 'clean':
      setFlag(state, layout, action.object, flag.clean);
      return;
    case 'heat':
      setFlag(state, layout, action.object, flag.hot);
      clearFlag(state, layout, action.object, flag.cool);
      return;
    case 'cool':
      setFlag(state, layout, action.object, flag.cool);
      clearFlag(state, layout, action.object, flag.hot);
      return;
    case 'use':
      flipOn(state, layout, action.object);
      setFlag(state, layout, action.object, flag.toggled);
      return;
    case 'slice':
      setFlag(state, layout, action.object, flag.sliced);
      return;
    default:
      return;
  }
}

/** Where an object is now: the first receptacle that holds it, or -1. */
export function receptacleOf(world: World, layout: StateLayout, state: State, object: number): number {
  for (let r = 0; r < world.receptacles; r += 1) {
    if (includes(state, layout.inside + r * world.setWords, object)) return r;
  }
  return -1;
}
