/**
 * The original's sentences, word for word (ALFWorld's grammar, MIT; see resources/alfworld). Lists follow ids, and the quirks stay:
 * `a apple`, a comma before `and` also with two items, `look` where nothing stands sees nothing, and `Next to it` names only objects
 * that were once taken from a receptacle at this place and now lie at the same place elsewhere.
 */
import { objectName, receptacleName } from './actions.ts';
import type { Action } from './actions.ts';
import { agentLocation, hasFlag, heldObject, includes, isOpen, members } from './state.ts';
import type { State, StateLayout } from './state.ts';
import { flag } from './world.ts';
import type { World } from './world.ts';

export const nothingHappens = 'Nothing happens.';

const helpText = [
  'Available commands:',
  '  look:                             look around your current location',
  '  inventory:                        check your current inventory',
  '  go to (receptacle):               move to a receptacle',
  '  open (receptacle):                open a receptacle',
  '  close (receptacle):               close a receptacle',
  '  take (object) from (receptacle):  take an object from a receptacle',
  '  move (object) to (receptacle):  place an object in or on a receptacle',
  '  examine (something):              examine a receptacle or an object',
  '  use (object):                     use an object',
  '  heat (object) with (receptacle):  heat an object using a receptacle',
  '  clean (object) with (receptacle): clean an object using a receptacle',
  '  cool (object) with (receptacle):  cool an object using a receptacle',
  '  slice (object) with (object):     slice an object using a sharp object',
  '',
].join('\n');

/** The first observation of a game. */
export function introText(world: World, layout: StateLayout, state: State, task: string): string {
  return `-= Welcome to TextWorld, ALFRED! =-\n\n${lookText(world, layout, state, true)}\n\n${task}`;
}

/** What an action that was just applied shows. */
export function feedbackText(world: World, layout: StateLayout, state: State, action: Action): string {
  switch (action.kind) {
    case 'go':
      return `You arrive at ${receptacleName(world, action.receptacle)}. ${receptacleText(world, layout, state, action.receptacle)}`;
    case 'open':
      return `You open the ${receptacleName(world, action.receptacle)}. ${receptacleText(world, layout, state, action.receptacle)}`;
    case 'close':
      return `You close the ${receptacleName(world, action.receptacle)}.`;
    case 'take':
      return `You pick up the ${objectName(world, action.object)} from the ${receptacleName(world, action.receptacle)}.`;
    case 'move':
      return `You move the ${objectName(world, action.object)} to the ${receptacleName(world, action.receptacle)}.`;
    case 'clean':
    case 'heat':
    case 'cool':
      return `You ${action.kind} the ${objectName(world, action.object)} using the ${receptacleName(world, action.receptacle)}.`;
    case 'use':
      // `isToggled` never becomes false again, so the original says "on" every time.
      return `You turn on the ${objectName(world, action.object)}.`;
    case 'slice':
      return `You sliced the ${objectName(world, action.object)} with the ${objectName(world, action.knife)}.`;
    case 'examine-receptacle':
      return receptacleText(world, layout, state, action.receptacle);
    case 'examine-object':
      return objectText(world, layout, state, action.object);
    case 'inventory': {
      const held = heldObject(state);
      return held < 0 ? 'You are not carrying anything.' : `You are carrying: a ${objectName(world, held)}.`;
    }
    case 'look':
      return lookText(world, layout, state, false);
    case 'help':
      return helpText;
  }
}

function lookText(world: World, layout: StateLayout, state: State, intro: boolean): string {
  const location = agentLocation(state);
  const here = world.receptaclesAt[location] ?? [];
  if (here.length > 0) {
    const facing = listed(here.map((r) => receptacleName(world, r)));
    const floor: string[] = [];
    for (const o of members(state, layout.near + location * world.setWords, world.setWords, [])) {
      for (const r of here) {
        if (includes(state, layout.removed + r * world.setWords, o)) floor.push(`a ${objectName(world, o)}`);
      }
    }
    return `You are facing the ${facing}. Next to it, you see ${listed(floor)}.`;
  }
  // Only the intro lists the room: `look` itself is bound to the present location, where nothing stands.
  const appliances: string[] = [];
  if (intro) {
    for (let r = 0; r < world.receptacles; r += 1) {
      if (world.receptacleLocation[r] !== -1) appliances.push(`a ${receptacleName(world, r)}`);
    }
  }
  return `You are in the middle of a room. Looking quickly around you, you see ${listed(appliances)}.`;
}

function receptacleText(world: World, layout: StateLayout, state: State, r: number): string {
  const name = receptacleName(world, r);
  const openable = world.openable[r] === 1;
  if (openable && !isOpen(state, layout, r)) return `The ${name} is closed.`;
  const contents = listed(
    members(state, layout.inside + r * world.setWords, world.setWords, []).map(
      (o) => `a ${objectName(world, o)}`,
    ),
  );
  return openable
    ? `The ${name} is open. In it, you see ${contents}.`
    : `On the ${name}, you see ${contents}.`;
}

function objectText(world: World, layout: StateLayout, state: State, o: number): string {
  const name = objectName(world, o);
  if (world.vessel[o] === 1) {
    const contents = (world.vesselContents[o] ?? []).filter((inner) => inner !== o);
    return `This is a normal ${name}. In it, you see ${listed(contents.map((inner) => `a ${objectName(world, inner)}`))}.`;
  }
  const is = (bit: number): boolean => hasFlag(state, layout, o, bit);
  const sliced = is(flag.sliced);
  const slicedWord = sliced ? 'sliced ' : '';
  if (is(flag.clean) && is(flag.hot)) return `This is a hot and clean ${slicedWord}${name}.`;
  if (is(flag.clean) && is(flag.cool)) return `This is a cool and clean ${slicedWord}${name}.`;
  if (sliced) {
    if (is(flag.clean)) return `This is a clean sliced ${name}.`;
    if (is(flag.hot)) return `This is a hot sliced ${name}.`;
    if (is(flag.cool)) return `This is a cool sliced ${name}.`;
  }
  if (is(flag.hot)) return `This is a hot ${name}.`;
  if (is(flag.clean)) return `This is a clean ${name}.`;
  if (is(flag.cool)) return `This is a cold ${name}.`;
  if (world.toggleable[o] === 1 && is(flag.toggled)) return `This ${name} is on.`;
  if (world.sliceable[o] === 1 && sliced) return `This is a sliced ${name}.`;
  return `There's nothing special about ${name}.`;
}

function listed(items: readonly string[]): string {
  if (items.length === 0) return 'nothing';
  if (items.length === 1) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')}, and ${items.at(-1) ?? ''}`;
}
