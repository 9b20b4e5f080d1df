/** A furnished room: which receptacles stand where. It depends only on the preset, the kind and the number of the floor plan. */
import { rooms } from './content.ts';
import type { RoomKind } from './content.ts';
import { randomOf } from './random.ts';
import type { Random } from '#core/random.ts';

/** Part of every seed: a change here changes every task, and so the data checksum. */
export const generatorVersion = '1';

export type Preset = 'household' | 'household-small';

/** Floor plans 1–6 are held out for unseen, as ALFRED holds out its rooms 1–6 of each kind; 7–30 are known. */
export const heldOutPlans = [1, 2, 3, 4, 5, 6] as const;
export const knownPlans = Array.from({ length: 24 }, (_, index) => index + 7);

export interface Receptacle {
  readonly className: string;
  /** Mangled as in the official games, e.g. `cabinet_bar__plus_00_dot_65_bar_…`. */
  readonly id: string;
  readonly location: string;
}

export interface Room {
  readonly kind: RoomKind;
  readonly plan: number;
  readonly receptacles: readonly Receptacle[];
  /** Where the agent begins: no receptacle stands there. */
  readonly start: string;
}

export function furnishRoom(preset: Preset, kind: RoomKind, plan: number): Room {
  const random = randomOf(`${generatorVersion}/${preset}/room/${kind}/${String(plan)}`);
  const heldOut = plan <= heldOutPlans.length;
  const small = preset === 'household-small';
  const furniture = small ? smallFurniture(kind, heldOut, random) : largeFurniture(kind, heldOut, random);
  const receptacles: Receptacle[] = [];
  const taken = new Set<string>();
  for (const className of furniture) {
    const neighbour = receptacles.at(-1);
    // Stacked drawers and cabinets are sometimes served from one spot, as in the official rooms.
    const shares =
      !small &&
      (className === 'drawer' || className === 'cabinet') &&
      neighbour?.className === className &&
      random.chance(0.1);
    receptacles.push({
      className,
      id: receptacleId(className, random, taken),
      location: shares ? neighbour.location : locationId(random, taken),
    });
  }
  return { kind, plan, receptacles, start: locationId(random, taken) };
}

function largeFurniture(kind: RoomKind, heldOut: boolean, random: Random): string[] {
  const inventory = heldOut ? rooms[kind].heldOut : rooms[kind].known;
  return Object.entries(inventory).flatMap(([className, [fewest, most]]) =>
    Array.from({ length: random.integer(fewest, most) }, () => className),
  );
}

function smallFurniture(kind: RoomKind, heldOut: boolean, random: Random): string[] {
  const { small, smallExtras, smallHeldOut, smallHeldOutExtras } = rooms[kind];
  const base = heldOut ? smallHeldOut : small;
  const extras = random.shuffled(heldOut ? smallHeldOutExtras : smallExtras);
  return [...base, ...extras.slice(0, random.integer(6, 7) - base.length)].sort();
}

/** What a room looks like from its middle: rooms with the same signature show the same first sentence. */
export function signatureOf(room: Room): string {
  return room.receptacles
    .map(({ className }) => className)
    .toSorted()
    .join();
}

function receptacleId(className: string, random: Random, taken: Set<string>): string {
  const basin = /^(sink|bathtub)basin$/.exec(className)?.[1];
  return basin === undefined
    ? entityId(className, random, taken)
    : `${entityId(basin, random, taken)}_bar_${className}`;
}

/** A fresh id `class|x|y|z` in metres, mangled for PDDL. */
export function entityId(className: string, random: Random, taken: Set<string>): string {
  for (;;) {
    const place = [random.integer(-450, 450), random.integer(0, 220), random.integer(-450, 450)];
    const id = [className, ...place.map(coordinate)].join('_bar_');
    if (!taken.has(id)) {
      taken.add(id);
      return id;
    }
  }
}

function coordinate(centimetres: number): string {
  const sign = centimetres < 0 ? '_minus_' : '_plus_';
  const size = Math.abs(centimetres);
  const whole = String(Math.floor(size / 100)).padStart(2, '0');
  return `${sign}${whole}_dot_${String(size % 100).padStart(2, '0')}`;
}

/** A standing place `loc|x|z|rotation|horizon`, in steps of 25 cm. */
function locationId(random: Random, taken: Set<string>): string {
  for (;;) {
    const numbers = [
      random.integer(-16, 16),
      random.integer(-16, 16),
      random.integer(0, 3),
      random.pick([0, 15, 30, 45, 60]),
    ];
    const id = ['loc', ...numbers.map((n) => (n < 0 ? `_minus_${String(-n)}` : String(n)))].join('_bar_');
    if (!taken.has(id)) {
      taken.add(id);
      return id;
    }
  }
}
