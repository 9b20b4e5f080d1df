/**
 * Which tasks exist. A combination (type, room, object, target) belongs to exactly one split, so splits share no task, not even the
 * same wish in a room that looks the same. Unseen takes held-out rooms and held-out object–target pairs only.
 */
import type { Split } from '#shared/schema/environment.ts';
import { ability, canContain, lamps, roomKinds, rooms, roomsOfType, taskTypes } from './content.ts';
import type { RoomKind, TaskType } from './content.ts';
import { hash32 } from './random.ts';
import { furnishRoom, generatorVersion, heldOutPlans, knownPlans, signatureOf } from './room.ts';
import type { Preset, Room } from './room.ts';

export interface Combination {
  readonly split: Split;
  readonly type: TaskType;
  readonly kind: RoomKind;
  readonly plan: number;
  readonly object: string;
  /** A class of receptacle, or of lamp for `look_at_obj_in_light`. */
  readonly target: string;
  /** 1, or more where a type has fewer combinations than tasks. */
  readonly trial: number;
}

/** Tasks of each type: train, seen and unseen have ALFWorld's own numbers. */
const sizes: Readonly<Record<Preset, Readonly<Record<Split, readonly number[]>>>> = {
  household: {
    train: [790, 308, 650, 459, 533, 813],
    development: [35, 13, 27, 16, 25, 24],
    seen: [35, 13, 27, 16, 25, 24],
    unseen: [24, 18, 31, 23, 21, 17],
  },
  'household-small': {
    train: [270, 130, 220, 150, 180, 250],
    development: [35, 13, 27, 16, 25, 24],
    seen: [35, 13, 27, 16, 25, 24],
    unseen: [24, 18, 31, 23, 21, 17],
  },
};

export function splitSizes(preset: Preset): { split: Split; tasks: number }[] {
  return (['train', 'development', 'seen', 'unseen'] as const).map((split) => ({
    split,
    tasks: sizes[preset][split].reduce((sum, count) => sum + count, 0),
  }));
}

/** All tasks of a preset, each split in a mixed but fixed order. */
export function catalogueOf(preset: Preset): Combination[] {
  const groups = new Map<string, Combination[]>();
  for (const combination of combinations(preset)) {
    const key = `${combination.split}/${combination.type}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [combination]);
    else group.push(combination);
  }
  const catalogue: Combination[] = [];
  for (const { split } of splitSizes(preset)) {
    const chosen: Combination[] = [];
    for (const [index, type] of taskTypes.entries()) {
      const group = mixed(groups.get(`${split}/${type}`) ?? []);
      const wanted = sizes[preset][split][index] ?? 0;
      for (let count = 0; count < wanted && group.length > 0; count += 1) {
        const base = group[count % group.length];
        if (base !== undefined) chosen.push({ ...base, trial: 1 + Math.floor(count / group.length) });
      }
    }
    catalogue.push(...mixed(chosen));
  }
  return catalogue;
}

export function combinationName(combination: Combination): string {
  const { type, object, target, kind, plan, trial } = combination;
  return [type, object, target, kind.replace(' ', ''), String(plan), String(trial)].join('-');
}

function mixed(group: readonly Combination[]): Combination[] {
  return group
    .map((combination) => ({
      combination,
      key: hash32(`${generatorVersion}/order/${combinationName(combination)}`),
    }))
    .sort((a, b) => a.key - b.key)
    .map(({ combination }) => combination);
}

function* combinations(preset: Preset): Generator<Combination> {
  for (const kind of roomKinds) {
    for (const plan of [...heldOutPlans, ...knownPlans]) {
      const room = furnishRoom(preset, kind, plan);
      const signature = signatureOf(room);
      const heldOutRoom = plan <= heldOutPlans.length;
      for (const type of taskTypes) {
        if (!roomsOfType[type].includes(kind)) continue;
        for (const [object, target] of wishes(room, type)) {
          const heldOutPair = isHeldOutPair(preset, kind, type, object, target);
          // A held-out pair in a known room, or a known pair in a held-out room, is nobody's.
          if (heldOutPair !== heldOutRoom) continue;
          const split = heldOutRoom ? 'unseen' : knownSplit(preset, type, signature, object, target);
          yield { split, type, kind, plan, object, target, trial: 1 };
        }
      }
    }
  }
}

/** By what the agent sees: two rooms with the same furniture never show the same wish in two splits. */
function knownSplit(
  preset: Preset,
  type: TaskType,
  signature: string,
  object: string,
  target: string,
): Split {
  const bucket = hash32([generatorVersion, preset, type, signature, object, target].join('/')) % 16;
  return bucket === 0 ? 'development' : bucket === 1 ? 'seen' : 'train';
}

/** One pair in four, and every target that no known room of the kind has. */
export function isHeldOutPair(
  preset: Preset,
  kind: RoomKind,
  type: TaskType,
  object: string,
  target: string,
): boolean {
  const { known, small, smallExtras } = rooms[kind];
  const isLamp = type === 'look_at_obj_in_light';
  const isKnownTarget =
    isLamp ||
    (preset === 'household-small' ? [...small, ...smallExtras] : Object.keys(known)).includes(target);
  return !isKnownTarget || hash32(`${generatorVersion}/pair/${type}/${object}/${target}`) % 4 === 0;
}

/** Object–target pairs that a room can serve. */
function wishes(room: Room, type: TaskType): [object: string, target: string][] {
  const classes = new Set(room.receptacles.map(({ className }) => className));
  const takers = (object: string): string[] =>
    [...classes].filter((className) => canContain[className]?.has(object) === true);
  const objects = rooms[room.kind].objects.filter((object) => !ability.fixed.has(object));
  const able = {
    pick_and_place_simple: () => true,
    look_at_obj_in_light: () => true,
    pick_clean_then_place_in_recep: (object: string) =>
      ability.cleanable.has(object) && classes.has('sinkbasin'),
    pick_heat_then_place_in_recep: (object: string) =>
      ability.heatable.has(object) && classes.has('microwave'),
    pick_cool_then_place_in_recep: (object: string) => ability.coolable.has(object) && classes.has('fridge'),
    pick_two_obj_and_place: () => true,
  }[type];
  const appliance = {
    pick_clean_then_place_in_recep: 'sinkbasin',
    pick_heat_then_place_in_recep: 'microwave',
    pick_cool_then_place_in_recep: 'fridge',
    pick_and_place_simple: '',
    look_at_obj_in_light: '',
    pick_two_obj_and_place: '',
  }[type];
  const pairs: [string, string][] = [];
  for (const object of new Set(objects)) {
    if (!able(object)) continue;
    const places = takers(object).filter((className) => className !== appliance);
    const targets =
      type === 'look_at_obj_in_light'
        ? lamps.filter((lamp) => lamp !== 'floorlamp' || room.kind === 'living room')
        : places;
    for (const target of targets) {
      const canStart = places.some((place) => place !== target);
      const canStand = type !== 'look_at_obj_in_light' || takers(target).length > 0;
      if (canStart && canStand) pairs.push([object, target]);
    }
  }
  return pairs;
}
