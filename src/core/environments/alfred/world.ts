/**
 * The part of a problem that never changes, with every name replaced by a small integer. Objects and receptacles are numbered in
 * the order of their ids, which is the order in which the original lists them, so iterating indices gives its sentences.
 */
import { AppError } from '#shared/errors.ts';
import { byCodeUnit, displayNames } from './names.ts';
import type { Formula, Problem } from './problem.ts';

export const limits = { objects: 1000, receptacles: 1000, locations: 2000 };

export interface World {
  readonly objects: number;
  readonly receptacles: number;
  readonly locations: number;
  /** Number of 32-bit words in a set of objects. */
  readonly setWords: number;
  readonly objectName: readonly string[];
  readonly receptacleName: readonly string[];
  readonly objectClass: readonly (readonly string[])[];
  readonly receptacleClass: readonly (readonly string[])[];
  readonly receptacleLocation: Int32Array;
  /** [location] → receptacles there, in order. */
  readonly receptaclesAt: readonly (readonly number[])[];
  readonly openable: Uint8Array;
  readonly sink: Uint8Array;
  readonly microwave: Uint8Array;
  readonly fridge: Uint8Array;
  readonly pickupable: Uint8Array;
  readonly cleanable: Uint8Array;
  readonly heatable: Uint8Array;
  readonly coolable: Uint8Array;
  readonly toggleable: Uint8Array;
  readonly sliceable: Uint8Array;
  readonly knife: Uint8Array;
  /** Objects that can hold others (bowl, mug): examined with their contents. */
  readonly vessel: Uint8Array;
  /** [vessel] → objects inside, in order. */
  readonly vesselContents: readonly (readonly number[])[];
  /** [receptacle × object] */
  readonly canContain: Uint8Array;
  readonly facts: ReadonlySet<string>;
  readonly start: StartFacts;
  readonly goal: Formula;
  readonly index: EntityIndex;
}

export interface EntityIndex {
  readonly object: ReadonlyMap<string, number>;
  readonly receptacle: ReadonlyMap<string, number>;
  readonly location: ReadonlyMap<string, number>;
  /** Every entity of a type, for quantifiers. */
  readonly byType: ReadonlyMap<string, readonly string[]>;
}

export interface StartFacts {
  readonly at: number;
  readonly held: number;
  readonly opened: readonly number[];
  readonly inside: readonly (readonly [object: number, receptacle: number])[];
  readonly near: readonly (readonly [object: number, location: number])[];
  readonly flags: Uint32Array;
}

/** Bits of an object's flags. */
export const flag = { clean: 1, hot: 2, cool: 4, on: 8, toggled: 16, sliced: 32 } as const;
const flagOf: Readonly<Record<string, number>> = {
  isclean: flag.clean,
  ishot: flag.hot,
  iscool: flag.cool,
  ison: flag.on,
  istoggled: flag.toggled,
  issliced: flag.sliced,
};
export function flagOfPredicate(predicate: string): number {
  return flagOf[predicate] ?? 0;
}

export function factKey(predicate: string, names: readonly string[]): string {
  return `${predicate} ${names.join(' ')}`;
}

function invalid(problem: Problem, reason: string): AppError {
  return new AppError({
    code: 'ENVIRONMENT_DATA_INVALID',
    message: `The problem ${problem.name} cannot be played: ${reason}.`,
    data: { problem: problem.name },
  });
}

/** @throws AppError ENVIRONMENT_DATA_INVALID for a problem that the rules cannot represent, with the reason */
export function compileWorld(problem: Problem): World {
  const used = new Set<string>();
  for (const { arguments: names } of problem.init) for (const name of names) used.add(name);
  const typeOf = new Map(problem.entities.map(({ name, type }) => [name, type]));
  const sorted = [...used].sort(byCodeUnit);
  const ofType = (type: string): string[] => sorted.filter((name) => typeOf.get(name) === type);
  const objectIds = ofType('object');
  const receptacleIds = ofType('receptacle');
  const locationIds = ofType('location');
  if (objectIds.length > limits.objects)
    throw invalid(problem, `more than ${String(limits.objects)} objects`);
  if (receptacleIds.length > limits.receptacles) {
    throw invalid(problem, `more than ${String(limits.receptacles)} receptacles`);
  }
  if (locationIds.length > limits.locations)
    throw invalid(problem, `more than ${String(limits.locations)} locations`);
  const names = displayNames(used);
  const named = (id: string): string => names.get(id) ?? id;
  const object = indexed(objectIds);
  const receptacle = indexed(receptacleIds);
  const location = indexed(locationIds);
  const byType = new Map<string, string[]>();
  for (const { name, type } of problem.entities) {
    const list = byType.get(type);
    if (list === undefined) byType.set(type, [name]);
    else list.push(name);
  }
  const agents = byType.get('agent') ?? [];
  if (agents.length !== 1) throw invalid(problem, `it has ${String(agents.length)} agents instead of one`);

  const marks = (size: number): Uint8Array => new Uint8Array(size);
  const objectMarks = {
    pickupable: marks(objectIds.length),
    cleanable: marks(objectIds.length),
    heatable: marks(objectIds.length),
    coolable: marks(objectIds.length),
    toggleable: marks(objectIds.length),
    sliceable: marks(objectIds.length),
    isreceptacleobject: marks(objectIds.length),
  };
  const openable = marks(receptacleIds.length);
  const objectClass: string[][] = objectIds.map(() => []);
  const receptacleClass: string[][] = receptacleIds.map(() => []);
  const receptacleLocation = new Int32Array(receptacleIds.length).fill(-1);
  const vesselContents: number[][] = objectIds.map(() => []);
  const containable: [receptacleClass: string, objectClass: string][] = [];
  const flags = new Uint32Array(objectIds.length);
  const opened: number[] = [];
  const inside: [number, number][] = [];
  const near: [number, number][] = [];
  let at = -1;
  let held = -1;
  let holdsAny = false;
  const facts = new Set<string>();

  const find = (index: ReadonlyMap<string, number>, name: string | undefined, where: string): number => {
    const found = name === undefined ? undefined : index.get(name);
    if (found === undefined) throw invalid(problem, `${where} names ${String(name)}, which has another type`);
    return found;
  };

  for (const { predicate, arguments: terms } of problem.init) {
    const key = factKey(predicate, terms);
    if (facts.has(key)) continue;
    facts.add(key);
    const [first, second] = terms;
    switch (predicate) {
      case 'pickupable':
      case 'cleanable':
      case 'heatable':
      case 'coolable':
      case 'toggleable':
      case 'sliceable':
      case 'isreceptacleobject':
        objectMarks[predicate][find(object, first, predicate)] = 1;
        break;
      case 'openable':
        openable[find(receptacle, first, predicate)] = 1;
        break;
      case 'opened':
        opened.push(find(receptacle, first, predicate));
        break;
      case 'objecttype':
        objectClass[find(object, first, predicate)]?.push(second ?? '');
        break;
      case 'receptacletype':
        receptacleClass[find(receptacle, first, predicate)]?.push(second ?? '');
        break;
      case 'cancontain':
        containable.push([first ?? '', second ?? '']);
        break;
      case 'receptacleatlocation': {
        const which = find(receptacle, first, predicate);
        if (receptacleLocation[which] !== -1)
          throw invalid(problem, `${String(first)} stands at two locations`);
        receptacleLocation[which] = find(location, second, predicate);
        break;
      }
      case 'objectatlocation':
        near.push([find(object, first, predicate), find(location, second, predicate)]);
        break;
      case 'inreceptacle':
        inside.push([find(object, first, predicate), find(receptacle, second, predicate)]);
        break;
      case 'inreceptacleobject':
        vesselContents[find(object, second, predicate)]?.push(find(object, first, predicate));
        break;
      case 'atlocation':
        if (at !== -1) throw invalid(problem, 'the agent is at two locations');
        at = find(location, second, predicate);
        break;
      case 'holds':
        if (held !== -1) throw invalid(problem, 'the agent holds two objects');
        held = find(object, second, predicate);
        break;
      case 'holdsany':
        holdsAny = true;
        break;
      default: {
        const bit = flagOfPredicate(predicate);
        if (bit !== 0) {
          const which = find(object, first, predicate);
          flags[which] = (flags[which] ?? 0) | bit;
        }
      }
    }
  }
  if (at === -1) throw invalid(problem, 'the agent has no location');
  if (holdsAny !== held >= 0) throw invalid(problem, '`holds` and `holdsAny` disagree');
  for (const list of vesselContents) list.sort((a, b) => a - b);

  const receptaclesAt: number[][] = locationIds.map(() => []);
  receptacleLocation.forEach((where, which) => receptaclesAt[where]?.push(which));
  const classMark = (type: string): Uint8Array =>
    Uint8Array.from(receptacleClass, (classes) => (classes.includes(type) ? 1 : 0));
  const canContain = new Uint8Array(receptacleIds.length * objectIds.length);
  const receptaclesOf = membersByClass(receptacleClass);
  const objectsOf = membersByClass(objectClass);
  for (const [outer, inner] of containable) {
    for (const r of receptaclesOf.get(outer) ?? []) {
      for (const o of objectsOf.get(inner) ?? []) canContain[r * objectIds.length + o] = 1;
    }
  }
  return {
    objects: objectIds.length,
    receptacles: receptacleIds.length,
    locations: locationIds.length,
    setWords: Math.max(1, Math.ceil(objectIds.length / 32)),
    objectName: objectIds.map(named),
    receptacleName: receptacleIds.map(named),
    objectClass,
    receptacleClass,
    receptacleLocation,
    receptaclesAt,
    openable,
    sink: classMark('sinkbasintype'),
    microwave: classMark('microwavetype'),
    fridge: classMark('fridgetype'),
    pickupable: objectMarks.pickupable,
    cleanable: objectMarks.cleanable,
    heatable: objectMarks.heatable,
    coolable: objectMarks.coolable,
    toggleable: objectMarks.toggleable,
    sliceable: objectMarks.sliceable,
    knife: Uint8Array.from(objectClass, (classes) =>
      classes.includes('knifetype') || classes.includes('butterknifetype') ? 1 : 0,
    ),
    vessel: objectMarks.isreceptacleobject,
    vesselContents,
    canContain,
    facts,
    start: { at, held, opened, inside, near, flags },
    goal: problem.goal,
    index: { object, receptacle, location, byType },
  };
}

function indexed(ids: readonly string[]): Map<string, number> {
  return new Map(ids.map((id, index) => [id, index]));
}

function membersByClass(classes: readonly (readonly string[])[]): Map<string, number[]> {
  const members = new Map<string, number[]>();
  classes.forEach((names, index) => {
    for (const name of names) {
      const list = members.get(name);
      if (list === undefined) members.set(name, [index]);
      else list.push(index);
    }
  });
  return members;
}
