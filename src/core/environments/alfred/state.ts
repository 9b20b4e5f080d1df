/**
 * Everything that changes in a game, in one array of 32-bit words, so that a snapshot is one copy and a restore is one `set`.
 *
 * Besides the planner's facts it keeps `removed`: the original remembers, as a fact of its own, that an object was taken out of a
 * receptacle, and `look` reads exactly that (see feedback.ts).
 */
import { flag } from './world.ts';
import type { World } from './world.ts';

export type State = Uint32Array;

export interface StateLayout {
  readonly size: number;
  readonly flags: number;
  readonly opened: number;
  /** [receptacle × setWords] objects inside. */
  readonly inside: number;
  /** [receptacle × setWords] objects that were taken out and not put back. */
  readonly removed: number;
  /** [location × setWords] objects said to be at a location. */
  readonly near: number;
}

const atWord = 0;
const heldWord = 1;
const firstWord = 2;

export function layoutOf(world: World): StateLayout {
  const flags = firstWord;
  const opened = flags + world.objects;
  const inside = opened + world.receptacles;
  const removed = inside + world.receptacles * world.setWords;
  const near = removed + world.receptacles * world.setWords;
  return { flags, opened, inside, removed, near, size: near + world.locations * world.setWords };
}

export function initialState(world: World, layout: StateLayout): State {
  const state = new Uint32Array(layout.size);
  state[atWord] = world.start.at;
  state[heldWord] = world.start.held + 1;
  state.set(world.start.flags, layout.flags);
  for (const r of world.start.opened) state[layout.opened + r] = 1;
  for (const [o, r] of world.start.inside) include(state, layout.inside + r * world.setWords, o);
  for (const [o, l] of world.start.near) include(state, layout.near + l * world.setWords, o);
  return state;
}

export function agentLocation(state: State): number {
  return state[atWord] ?? 0;
}

/** -1: the hands are empty. */
export function heldObject(state: State): number {
  return (state[heldWord] ?? 0) - 1;
}

export function setLocation(state: State, location: number): void {
  state[atWord] = location;
}

export function setHeld(state: State, object: number): void {
  state[heldWord] = object + 1;
}

export function include(state: State, set: number, object: number): void {
  const word = set + (object >>> 5);
  state[word] = (state[word] ?? 0) | (1 << (object & 31));
}

export function exclude(state: State, set: number, object: number): void {
  const word = set + (object >>> 5);
  state[word] = (state[word] ?? 0) & ~(1 << (object & 31));
}

export function includes(state: State, set: number, object: number): boolean {
  return (((state[set + (object >>> 5)] ?? 0) >>> (object & 31)) & 1) === 1;
}

/** Members in ascending order, appended to `into`. */
export function members(state: State, set: number, setWords: number, into: number[]): number[] {
  for (let word = 0; word < setWords; word += 1) {
    let bits = state[set + word] ?? 0;
    while (bits !== 0) {
      const lowest = bits & -bits;
      into.push(word * 32 + (31 - Math.clz32(lowest)));
      bits ^= lowest;
    }
  }
  return into;
}

export function isOpen(state: State, layout: StateLayout, receptacle: number): boolean {
  return state[layout.opened + receptacle] === 1;
}

/** Whether things can be taken out of it and put into it now. */
export function isAccessible(world: World, state: State, layout: StateLayout, receptacle: number): boolean {
  return world.openable[receptacle] === 0 || state[layout.opened + receptacle] === 1;
}

export function hasFlag(state: State, layout: StateLayout, object: number, bit: number): boolean {
  return ((state[layout.flags + object] ?? 0) & bit) !== 0;
}

export function setFlag(state: State, layout: StateLayout, object: number, bit: number): void {
  const word = layout.flags + object;
  state[word] = (state[word] ?? 0) | bit;
}

export function clearFlag(state: State, layout: StateLayout, object: number, bit: number): void {
  const word = layout.flags + object;
  state[word] = (state[word] ?? 0) & ~bit;
}

export function flipOn(state: State, layout: StateLayout, object: number): void {
  const word = layout.flags + object;
  state[word] = (state[word] ?? 0) ^ flag.on;
}
