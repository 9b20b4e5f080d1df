/**
 * A small world with rules like a household's and nothing else in common with it: places (some shut), things that lie there, one
 * place where things are treated, one fixture that is worked. One thing fits the hands; one acts only where one is.
 */
import { drawDialect, fill, guideOf, listed } from '#core/starter/dialect.ts';
import type { Dialect } from '#core/starter/dialect.ts';
import type { Draw } from '#core/starter/draw.ts';
import { fixtures, madeUpWord, placeNouns, settings, thingNouns } from '#core/starter/words.ts';

export interface Place {
  readonly kind: string;
  readonly name: string;
  shut: boolean;
  readonly closable: boolean;
}
export interface Thing {
  readonly kind: string;
  readonly name: string;
  /** A place's index; -1: in the hands. */
  at: number;
  treated: boolean;
  readonly fixed: boolean;
}

export type ErrandAction =
  | { kind: 'go' | 'open' | 'close'; place: number }
  | { kind: 'take' | 'put' | 'treat'; thing: number; place: number }
  | { kind: 'use'; thing: number }
  | { kind: 'look' | 'inventory' };

export interface ErrandWorld {
  readonly dialect: Dialect;
  readonly setting: string;
  readonly guide: string;
  readonly places: readonly Place[];
  readonly things: readonly Thing[];
  readonly station: number;
  readonly fixture: number;
  /** -1: not at any place yet. */
  here: number;
  held: number;
  /** Things that were in the hands while the fixture was worked. */
  readonly shown: Set<number>;
}

export function drawErrandWorld(draw: Draw): ErrandWorld {
  const dialect = drawDialect(draw);
  const noun = (pool: readonly string[], taken: Set<string>): string => {
    for (;;) {
      const word = draw.chance(0.3) ? madeUpWord(draw) : draw.pick(pool);
      if (taken.has(word)) continue;
      taken.add(word);
      return word;
    }
  };
  const taken = new Set<string>();
  const kinds = (count: number, pool: readonly string[]): string[] =>
    Array.from({ length: count }, () => noun(pool, taken));
  const placeKinds = kinds(draw.integer(3, 6), placeNouns);
  const station = noun(placeNouns, taken);
  const closable = new Set(placeKinds.filter(() => draw.chance(0.4)));
  const counted = draw.some([...placeKinds, ...draw.some(placeKinds, draw.integer(1, 2)), station], 99);
  const places = numbered(counted).map(({ kind, name }): Place => {
    return { kind, name, shut: closable.has(kind), closable: closable.has(kind) };
  });
  const thingKinds = kinds(draw.integer(3, 7), thingNouns);
  const fixture = draw.pick(fixtures);
  const things = numbered([...thingKinds, ...draw.some(thingKinds, draw.integer(1, 3))]).map(
    ({ kind, name }): Thing => ({
      kind,
      name,
      at: draw.integer(0, places.length - 1),
      treated: false,
      fixed: false,
    }),
  );
  things.push({
    kind: fixture,
    name: `${fixture} 1`,
    at: draw.integer(0, places.length - 1),
    treated: false,
    fixed: true,
  });
  const example = {
    // Any thing: a real one would be told before it is seen.
    thing: `${draw.pick(thingNouns)} 1`,
    place: places[0]?.name ?? '',
    station: `${station} 1`,
    fixture: `${fixture} 1`,
  };
  return {
    dialect,
    setting: draw.chance(0.2) ? madeUpWord(draw) : draw.pick(settings),
    guide: guideOf(dialect, example),
    places,
    things,
    station: places.findIndex(({ kind }) => kind === station),
    fixture: things.length - 1,
    here: -1,
    held: -1,
    shown: new Set(),
  };
}

function numbered(kinds: readonly string[]): { kind: string; name: string }[] {
  const counts = new Map<string, number>();
  return kinds.map((kind) => {
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    return { kind, name: `${kind} ${String(number)}` };
  });
}

export function introText(world: ErrandWorld, errand: string): string {
  const { dialect } = world;
  const places = listed(
    dialect,
    world.places.map(({ name }) => name),
  );
  return `${fill(dialect.intro, { x: world.setting, l: places })}\n\n${fill(dialect.errandLine, { t: errand })}`;
}

export function commandOf(world: ErrandWorld, action: ErrandAction): string {
  const { dialect } = world;
  if (action.kind === 'look' || action.kind === 'inventory') return dialect[action.kind];
  return fill(dialect[action.kind], namesIn(world, action));
}

function namesIn(world: ErrandWorld, action: ErrandAction): { o: string; p: string } {
  const o = 'thing' in action ? (world.things[action.thing]?.name ?? '') : '';
  const p = 'place' in action ? (world.places[action.place]?.name ?? '') : '';
  return { o, p };
}

export function contentsOf(world: ErrandWorld, place: number): number[] {
  return world.things.flatMap(({ at }, thing) => (at === place ? thing : []));
}

/** What can be done now; the rules of the world. */
export function admissibleActions(world: ErrandWorld): ErrandAction[] {
  const { here, held } = world;
  const place = world.places[here];
  const actions: ErrandAction[] = world.places.flatMap((_, index): ErrandAction[] =>
    index === here ? [] : [{ kind: 'go', place: index }],
  );
  if (place !== undefined) {
    if (place.closable) actions.push({ kind: place.shut ? 'open' : 'close', place: here });
    if (!place.shut) {
      for (const thing of contentsOf(world, here)) {
        if (world.things[thing]?.fixed === true) actions.push({ kind: 'use', thing });
        else if (held === -1) actions.push({ kind: 'take', thing, place: here });
      }
      if (held !== -1) actions.push({ kind: 'put', thing: held, place: here });
    }
    if (held !== -1 && here === world.station) actions.push({ kind: 'treat', thing: held, place: here });
  }
  actions.push({ kind: 'look' }, { kind: 'inventory' });
  return actions;
}

export function isAdmissible(world: ErrandWorld, action: ErrandAction): boolean {
  const wanted = commandOf(world, action);
  return admissibleActions(world).some((candidate) => commandOf(world, candidate) === wanted);
}

/** Changes the world and tells what is observed; what is not admissible changes nothing and is refused. */
export function act(world: ErrandWorld, action: ErrandAction): string {
  const { dialect } = world;
  if (!isAdmissible(world, action)) return dialect.done.refused;
  const names = namesIn(world, action);
  switch (action.kind) {
    case 'go':
      world.here = action.place;
      return `${fill(dialect.said.arrive, names)} ${viewText(world)}`;
    case 'open':
    case 'close': {
      const place = world.places[action.place];
      if (place !== undefined) place.shut = action.kind === 'close';
      if (action.kind === 'close') return fill(dialect.said.closed, names);
      return `${fill(dialect.said.opened, names)} ${viewText(world)}`;
    }
    case 'take':
      setAt(world, action.thing, -1);
      world.held = action.thing;
      return fill(dialect.said.taken, names);
    case 'put':
      setAt(world, action.thing, action.place);
      world.held = -1;
      return fill(dialect.done.put, names);
    case 'treat': {
      const thing = world.things[action.thing];
      if (thing !== undefined) thing.treated = true;
      return fill(dialect.done.treat, names);
    }
    case 'use':
      if (world.held !== -1) world.shown.add(world.held);
      return fill(dialect.done.use, names);
    case 'look':
      return world.here === -1
        ? fill(dialect.intro, {
            x: world.setting,
            l: listed(
              dialect,
              world.places.map(({ name }) => name),
            ),
          })
        : `${fill(dialect.said.arrive, { p: world.places[world.here]?.name ?? '' })} ${viewText(world)}`;
    case 'inventory': {
      const held = world.things[world.held];
      return held === undefined ? dialect.done.empty : fill(dialect.done.carrying, { o: held.name });
    }
  }
}

function setAt(world: ErrandWorld, thing: number, at: number): void {
  const moved = world.things[thing];
  if (moved !== undefined) moved.at = at;
}

function viewText(world: ErrandWorld): string {
  const { dialect, here } = world;
  const place = world.places[here];
  if (place === undefined) return '';
  if (place.shut) return fill(dialect.said.shut, { p: place.name });
  const names = contentsOf(world, here).map((thing) => world.things[thing]?.name ?? '');
  return fill(dialect.said.shows, { p: place.name, l: listed(dialect, names) });
}
