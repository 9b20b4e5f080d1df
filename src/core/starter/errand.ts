/**
 * What is wanted in another world, and who does it there. The agent knows only what it was shown: it goes where it has not looked,
 * remembers what it saw and where, and says why. It is an expert for these worlds alone and knows nothing of the household's tasks.
 */
import type { Draw } from '#core/starter/draw.ts';
import { contentsOf } from '#core/starter/errand-world.ts';
import type { ErrandAction, ErrandWorld } from '#core/starter/errand-world.ts';

export interface Errand {
  /** Without a full stop. */
  text: string;
  /** A kind of thing. */
  wanted: string;
  count: 1 | 2;
  treated: boolean;
  /** Where it goes: places that count, in the order of the introduction. Empty: the thing stays in the hands. */
  targets: readonly number[];
  /** The fixture is worked with the thing in the hands. */
  shown: boolean;
}

export type ErrandKind = 'find' | 'bring' | 'treat' | 'gather' | 'show';
const kinds: readonly ErrandKind[] = ['find', 'bring', 'bring', 'treat', 'gather', 'show'];

/** Puts the world's things so that the errand is not done before it begins. */
export function drawErrand(world: ErrandWorld, draw: Draw, kind: ErrandKind = draw.pick(kinds)): Errand {
  const { verb, participle } = world.dialect.treatment;
  const movable = world.things.filter(({ fixed }) => !fixed);
  const pairs = movable.filter(({ kind: one, name }) =>
    movable.some((other) => other.kind === one && other.name !== name),
  );
  const count = kind === 'gather' && pairs.length > 0 ? 2 : 1;
  const wanted = draw.pick(count === 2 ? pairs : movable).kind;
  const target = draw.integer(0, world.places.length - 1);
  const place = world.places[target];
  const exact = draw.chance(0.4);
  const targets = world.places.flatMap((other, index) =>
    index === target || (!exact && other.kind === place?.kind) ? index : [],
  );
  for (const thing of movable) {
    if (thing.kind === wanted && targets.includes(thing.at)) {
      thing.at = draw.pick([...world.places.keys()].filter((index) => !targets.includes(index)));
    }
  }
  const s = (exact ? place?.name : place?.kind) ?? '';
  const fixture = world.things[world.fixture]?.name ?? '';
  const k = wanted;
  const base = { wanted, count, treated: false, shown: false } as const;
  if (kind === 'find') {
    return {
      ...base,
      targets: [],
      text: draw.pick([`get hold of a ${k}`, `find yourself a ${k}`, `have a ${k} in your hands`]),
    };
  }
  if (kind === 'show') {
    const text = draw.pick([
      `work the ${fixture} while you hold a ${k}`,
      `carry a ${k} to the ${fixture} and work it`,
    ]);
    return { ...base, shown: true, targets: [], text };
  }
  if (kind === 'treat') {
    const text = draw.pick([
      `bring a ${participle} ${k} to the ${s}`,
      `${verb} a ${k} and deliver it to the ${s}`,
      `see that a ${participle} ${k} gets to the ${s}`,
    ]);
    return { ...base, treated: true, targets, text };
  }
  const text =
    count === 2
      ? draw.pick([`gather two ${k} at the ${s}`, `bring two ${k} together at the ${s}`])
      : draw.pick([
          `bring a ${k} to the ${s}`,
          `deliver one ${k} to the ${s}`,
          `make sure that a ${k} is at the ${s}`,
        ]);
  return { ...base, targets, text };
}

export function isDone(world: ErrandWorld, errand: Errand): boolean {
  const held = world.things[world.held];
  if (errand.shown) return [...world.shown].some((thing) => world.things[thing]?.kind === errand.wanted);
  if (errand.targets.length === 0) return held?.kind === errand.wanted;
  return errand.targets.some(
    (place) =>
      contentsOf(world, place).filter(
        (index) => isWanted(world, errand, index) && isReady(world, errand, index),
      ).length >= errand.count,
  );
}

function isWanted(world: ErrandWorld, errand: Errand, thing: number): boolean {
  return world.things[thing]?.kind === errand.wanted;
}

function isReady(world: ErrandWorld, errand: Errand, thing: number): boolean {
  return !errand.treated || world.things[thing]?.treated === true;
}

export interface Step {
  action: ErrandAction;
  /** Why, in the first person. */
  thought: string;
  /** It goes somewhere to look there for the first time. */
  searches?: boolean;
}

/** One errand's agent. `next` is asked once a step, `saw` after each. */
export class ErrandAgent {
  readonly #world: ErrandWorld;
  readonly #errand: Errand;
  readonly #draw: Draw;
  /** Searches in the order of the introduction, or anywhere. */
  readonly #inOrder: boolean;
  /** Places whose contents were shown; only the agent moves things, so they stay known. */
  readonly looked = new Set<number>();

  constructor(world: ErrandWorld, errand: Errand, draw: Draw) {
    this.#world = world;
    this.#errand = errand;
    this.#draw = draw;
    this.#inOrder = draw.chance(0.3);
  }

  /** After any observation: what stands open before the agent has been seen. */
  saw(): void {
    const { here, places } = this.#world;
    if (places[here]?.shut === false) this.looked.add(here);
  }

  /** null when the errand is done. */
  next(): Step | null {
    const world = this.#world;
    const errand = this.#errand;
    if (isDone(world, errand)) return null;
    if (world.held !== -1) return this.#carry(world.held);
    const known = [...this.looked].flatMap((place) => contentsOf(world, place));
    const thing = known.find((index) => isWanted(world, errand, index) && !this.#delivered(index));
    if (thing === undefined) return this.#search(errand.wanted);
    const { name, at } = world.things[thing] ?? { name: '', at: -1 };
    const place = world.places[at]?.name ?? '';
    const reach = this.#reach(at, `I saw ${name} at ${place}, so I go back there.`);
    if (reach !== null) return reach;
    return {
      action: { kind: 'take', thing, place: at },
      thought: `Here is ${name}, which I need. I take it.`,
    };
  }

  #delivered(thing: number): boolean {
    const at = this.#world.things[thing]?.at ?? -1;
    return at === this.#target() && isReady(this.#world, this.#errand, thing);
  }

  /** The first of the places that count, or the one that already has a part of what is wanted. */
  #target(): number {
    const { targets } = this.#errand;
    const begun = targets.find((place) =>
      contentsOf(this.#world, place).some((thing) => isWanted(this.#world, this.#errand, thing)),
    );
    return begun ?? targets[0] ?? -1;
  }

  #carry(held: number): Step {
    const world = this.#world;
    const name = world.things[held]?.name ?? '';
    const nameOf = (place: number): string => world.places[place]?.name ?? '';
    if (this.#errand.treated && world.things[held]?.treated !== true) {
      const { verb, participle } = world.dialect.treatment;
      const station = nameOf(world.station);
      const reach = this.#reach(
        world.station,
        `I hold ${name}. It must be ${participle}, and that is done at ${station}.`,
      );
      return (
        reach ?? {
          action: { kind: 'treat', thing: held, place: world.station },
          thought: `I am at ${station} with ${name}. I ${verb} it.`,
        }
      );
    }
    if (this.#errand.shown) {
      const fixture = world.things[world.fixture];
      if (fixture === undefined || !this.looked.has(fixture.at)) return this.#search(fixture?.kind ?? '');
      const reach = this.#reach(
        fixture.at,
        `I hold ${name}. The ${fixture.name} is at ${nameOf(fixture.at)}, so I go there.`,
      );
      return (
        reach ?? {
          action: { kind: 'use', thing: world.fixture },
          thought: `I hold ${name} and stand before ${fixture.name}. I work it.`,
        }
      );
    }
    const target = this.#target();
    const reach = this.#reach(target, `I hold ${name}. It belongs at ${nameOf(target)}, so I go there.`);
    return (
      reach ?? {
        action: { kind: 'put', thing: held, place: target },
        thought: `I am at ${nameOf(target)}, where ${name} belongs.`,
      }
    );
  }

  /** null when the place is before the agent and open. */
  #reach(place: number, why: string): Step | null {
    const world = this.#world;
    if (world.here !== place) return { action: { kind: 'go', place }, thought: why };
    if (world.places[place]?.shut !== true) return null;
    return { action: { kind: 'open', place }, thought: `It is shut, so I open it first.` };
  }

  #search(kind: string): Step {
    const world = this.#world;
    const here = world.places[world.here];
    if (here?.shut === true) {
      return {
        action: { kind: 'open', place: world.here },
        thought: `A ${kind} may be inside ${here.name}. I open it.`,
      };
    }
    const rest = [...world.places.keys()].filter((place) => !this.looked.has(place));
    const place = this.#inOrder ? (rest[0] ?? 0) : this.#draw.pick(rest);
    const name = world.places[place]?.name ?? '';
    const why = this.looked.size === 0 ? `I need a ${kind}.` : `No ${kind} so far.`;
    return {
      action: { kind: 'go', place },
      thought: `${why} I have not looked at ${name} yet.`,
      searches: true,
    };
  }
}
