/** From a combination to a full problem: objects are placed, facts are stated, the goal is built. Everything follows from the name. */
import { fact } from '../alfred/problem.ts';
import type { Entity, Fact, Formula, Problem } from '../alfred/problem.ts';
import { combinationName } from './catalogue.ts';
import type { Combination } from './catalogue.ts';
import { ability, canContain, openable, rooms, sentences } from './content.ts';
import type { TaskType } from './content.ts';
import { randomOf } from './random.ts';
import type { Random } from '#core/random.ts';
import { entityId, furnishRoom, generatorVersion } from './room.ts';
import type { Preset, Receptacle, Room } from './room.ts';

/** The wish in ALFWorld's words, without full stop. */
export function instructionOf(preset: Preset, combination: Combination): string {
  const random = randomOf(`${generatorVersion}/${preset}/sentence/${combinationName(combination)}`);
  return random
    .pick(sentences[combination.type])
    .replace('{object}', combination.object)
    .replace('{target}', combination.target);
}

export function taskText(instruction: string): string {
  return `Your task is to: ${instruction}.`;
}

interface Thing {
  readonly className: string;
  readonly id: string;
  readonly receptacle: Receptacle;
}

export function problemOf(preset: Preset, combination: Combination): Problem {
  const name = combinationName(combination);
  const random = randomOf(`${generatorVersion}/${preset}/task/${name}`);
  const room = furnishRoom(preset, combination.kind, combination.plan);
  const things = furnish(preset, combination, room, random);
  const classes = [...new Set(things.map(({ className }) => className))];
  const receptacleClasses = [...new Set(room.receptacles.map(({ className }) => className))];
  const locations = [...new Set([room.start, ...room.receptacles.map(({ location }) => location)])];
  const typed = (names: readonly string[], type: string): Entity[] => names.map((id) => ({ name: id, type }));
  const init: Fact[] = [
    ...room.receptacles.map(({ id, className }) => fact('receptacletype', id, `${className}type`)),
    ...things.map(({ id, className }) => fact('objecttype', id, `${className}type`)),
    ...receptacleClasses.flatMap((outer) =>
      classes
        .filter((inner) => canContain[outer]?.has(inner) === true)
        .map((inner) => fact('cancontain', `${outer}type`, `${inner}type`)),
    ),
    ...marked(things, 'pickupable', (className) => !ability.fixed.has(className)),
    ...marked(things, 'isreceptacleobject', (className) => ability.vessel.has(className)),
    ...room.receptacles
      .filter(({ className }) => openable.has(className))
      .map(({ id }) => fact('openable', id)),
    fact('atlocation', 'agent1', room.start),
    ...marked(things, 'cleanable', (className) => ability.cleanable.has(className)),
    ...marked(things, 'heatable', (className) => ability.heatable.has(className)),
    ...marked(things, 'coolable', (className) => ability.coolable.has(className)),
    // What has been in the fridge is cool from the start, as in the official games.
    ...things
      .filter(
        ({ className, receptacle }) => ability.coolable.has(className) && receptacle.className === 'fridge',
      )
      .map(({ id }) => fact('iscool', id)),
    ...marked(things, 'toggleable', (className) => ability.toggleable.has(className)),
    ...marked(things, 'sliceable', (className) => ability.sliceable.has(className)),
    ...things.map(({ id, receptacle }) => fact('inreceptacle', id, receptacle.id)),
    ...nested(things, random),
    ...room.receptacles.map(({ id, location }) => fact('receptacleatlocation', id, location)),
    ...things.map(({ id, receptacle }) => fact('objectatlocation', id, receptacle.location)),
  ];
  return {
    name: name.replace(/[^a-z0-9_-]/g, '_'),
    entities: [
      { name: 'agent1', type: 'agent' },
      ...typed(
        classes.map((className) => `${className}type`),
        'otype',
      ),
      ...typed(
        receptacleClasses.map((className) => `${className}type`),
        'rtype',
      ),
      ...typed(
        things.map(({ id }) => id),
        'object',
      ),
      ...typed(
        room.receptacles.map(({ id }) => id),
        'receptacle',
      ),
      ...typed(locations, 'location'),
    ],
    init,
    goal: goalOf(combination),
  };
}

function marked(things: readonly Thing[], predicate: string, has: (className: string) => boolean): Fact[] {
  return things.filter(({ className }) => has(className)).map(({ id }) => fact(predicate, id));
}

function furnish(preset: Preset, combination: Combination, room: Room, random: Random): Thing[] {
  const { object, target, type } = combination;
  const taken = new Set(room.receptacles.map(({ id }) => id));
  const things: Thing[] = [];
  const place = (className: string, isAllowed: (receptacle: Receptacle) => boolean): boolean => {
    const places = room.receptacles.filter(
      (receptacle) => canContain[receptacle.className]?.has(className) === true && isAllowed(receptacle),
    );
    if (places.length === 0) return false;
    things.push({ className, id: entityId(className, random, taken), receptacle: random.pick(places) });
    return true;
  };
  const isFarFromGoal = ({ className }: Receptacle): boolean =>
    className !== target && !(type === 'pick_cool_then_place_in_recep' && className === 'fridge');
  const small = preset === 'household-small';
  const wanted =
    type === 'pick_two_obj_and_place' ? random.integer(2, small ? 2 : 3) : random.integer(1, small ? 2 : 3);
  for (let count = 0; count < wanted; count += 1) place(object, isFarFromGoal);
  if (type === 'look_at_obj_in_light') place(target, () => true);

  const others = random.shuffled([...new Set(rooms[room.kind].objects)]).filter((other) => other !== object);
  const kinds = small ? random.integer(5, 8) : random.integer(12, Math.max(12, others.length));
  for (const className of others.slice(0, kinds)) {
    const copies = small || ability.fixed.has(className) ? 1 : random.integer(1, 3);
    for (let count = 0; count < copies; count += 1) place(className, () => true);
  }
  const isLamplit = room.kind === 'bedroom' || room.kind === 'living room';
  if (isLamplit && type !== 'look_at_obj_in_light' && random.chance(0.7)) place('desklamp', () => true);
  return things;
}

/** Now and then a small thing lies inside a bowl or mug at the same place. */
function nested(things: readonly Thing[], random: Random): Fact[] {
  const facts: Fact[] = [];
  for (const vessel of things) {
    if (!ability.vessel.has(vessel.className) || !random.chance(0.15)) continue;
    const inner = things.find(
      (thing) =>
        thing.receptacle === vessel.receptacle &&
        !ability.vessel.has(thing.className) &&
        !ability.fixed.has(thing.className),
    );
    if (inner !== undefined) facts.push(fact('inreceptacleobject', inner.id, vessel.id));
  }
  return facts;
}

function holds(predicate: string, ...terms: string[]): Formula {
  return { kind: 'fact', predicate, arguments: terms };
}

function all(...parts: Formula[]): Formula {
  return { kind: 'and', parts };
}

function exists(variables: Record<string, string>, body: Formula): Formula {
  return {
    kind: 'exists',
    variables: Object.entries(variables).map(([name, type]) => ({ name, type })),
    body,
  };
}

const treatment: Readonly<Partial<Record<TaskType, readonly [able: string, done: string]>>> = {
  pick_clean_then_place_in_recep: ['cleanable', 'isclean'],
  pick_heat_then_place_in_recep: ['heatable', 'ishot'],
  pick_cool_then_place_in_recep: ['coolable', 'iscool'],
};

/** The same conditions as ALFRED's goal of the type. */
function goalOf({ type, object, target }: Combination): Formula {
  const isWanted = (variable: string): Formula => holds('objecttype', variable, `${object}type`);
  if (type === 'look_at_obj_in_light') {
    return all(
      exists(
        { '?ot': 'object', '?r': 'receptacle', '?a': 'agent', '?l': 'location' },
        all(
          holds('objecttype', '?ot', `${target}type`),
          holds('toggleable', '?ot'),
          holds('istoggled', '?ot'),
          holds('receptacleatlocation', '?r', '?l'),
          holds('atlocation', '?a', '?l'),
          holds('inreceptacle', '?ot', '?r'),
        ),
      ),
      exists({ '?o': 'object', '?a': 'agent' }, all(isWanted('?o'), holds('holds', '?a', '?o'))),
    );
  }
  const isTarget = holds('receptacletype', '?r', `${target}type`);
  if (type === 'pick_two_obj_and_place') {
    const second = exists(
      { '?o2': 'object' },
      all(
        { kind: 'not', part: { kind: 'equal', left: '?o1', right: '?o2' } },
        isWanted('?o2'),
        isTarget,
        holds('inreceptacle', '?o2', '?r'),
      ),
    );
    return all(
      exists(
        { '?r': 'receptacle' },
        exists(
          { '?o1': 'object' },
          all(isWanted('?o1'), isTarget, holds('inreceptacle', '?o1', '?r'), second),
        ),
      ),
    );
  }
  const [able, done] = treatment[type] ?? [];
  return all(
    exists(
      { '?r': 'receptacle' },
      exists(
        { '?o': 'object' },
        all(
          ...(able === undefined ? [] : [holds(able, '?o')]),
          isWanted('?o'),
          isTarget,
          ...(done === undefined ? [] : [holds(done, '?o')]),
          holds('inreceptacle', '?o', '?r'),
        ),
      ),
    ),
  );
}
