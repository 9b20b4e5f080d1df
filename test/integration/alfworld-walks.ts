/** What the differential test plays: generated tasks, the same tasks bent into states that the generator never makes, and walks. */
import { AppError } from '#shared/errors.ts';
import { catalogueOf, combinationName } from '#core/environments/household/catalogue.ts';
import { randomOf } from '#core/environments/household/random.ts';
import type { Random } from '#core/random.ts';
import type { Preset } from '#core/environments/household/room.ts';
import { instructionOf, problemOf } from '#core/environments/household/task.ts';
import { commandText } from '#core/environments/alfred/actions.ts';
import { loadGame } from '#core/environments/alfred/game.ts';
import { fact } from '#core/environments/alfred/problem.ts';
import type { Fact, Problem } from '#core/environments/alfred/problem.ts';
import { solve } from '#core/environments/alfred/solver.ts';

export const walkKinds = ['expert', 'random', 'mixed'] as const;
export type WalkKind = (typeof walkKinds)[number];

export interface Case {
  readonly name: string;
  readonly type: string;
  readonly problem: Problem;
  readonly taskText: string;
  readonly walk: WalkKind;
  readonly actions: readonly string[];
}

export interface Shown {
  text: string;
  admissible: string[];
  won: boolean;
  reward: number;
}

/** `count` tasks of a preset, spread over all splits and types; `bent` ones start in states that no generated task has. */
export function casesOf(preset: Preset, count: number, options: { bent: boolean; steps: number }): Case[] {
  const catalogue = catalogueOf(preset);
  const byType = new Map<string, typeof catalogue>();
  for (const combination of catalogue)
    byType.set(combination.type, [...(byType.get(combination.type) ?? []), combination]);
  const groups = [...byType.values()];
  return Array.from({ length: count }, (_, index) => {
    const group = groups[index % groups.length] ?? [];
    const combination = group[Math.floor(((index + 0.5) / count) * group.length)];
    if (combination === undefined) throw new Error('a type of task has no combinations');
    const name = `${preset}/${options.bent ? 'bent/' : ''}${combinationName(combination)}`;
    const random = randomOf(`differential/${name}`);
    const plain = problemOf(preset, combination);
    const problem = options.bent ? bentPlayable(plain, random) : plain;
    const taskText = `Your task is to: ${instructionOf(preset, combination)}.`;
    const walk = walkKinds[Math.floor(index / groups.length) % walkKinds.length] ?? 'mixed';
    return {
      name,
      type: combination.type,
      problem,
      taskText,
      walk,
      actions: walkOf(problem, taskText, walk, random, options.steps),
    };
  });
}

/** Actions by our own rules: if they are wrong, the original disagrees at once. After success it plays on. */
function walkOf(problem: Problem, taskText: string, kind: WalkKind, random: Random, steps: number): string[] {
  const game = loadGame(problem, taskText);
  const state = game.start();
  const actions: string[] = [];
  let hasWon = false;
  const turn = kind === 'mixed' ? Math.floor(steps / 2) : 0;
  while (actions.length < steps) {
    const commands = game.commands(state);
    const isExpert = kind !== 'random' && actions.length >= turn && !hasWon;
    const planned = isExpert ? solve(game, state)?.[0] : undefined;
    let action =
      planned === undefined
        ? anyCommand(
            commands.map(({ text }) => text),
            random,
          )
        : commandText(game.world, planned);
    if (planned === undefined && random.chance(0.12)) action = spoiled(action, random);
    actions.push(action);
    const command = commands.find(({ text }) => text === action.trim());
    if (command !== undefined) game.apply(state, command);
    hasWon ||= game.won(state);
  }
  return actions;
}

/** A verb first, then one of its commands: most commands are `go to`, and going about shows little. */
function anyCommand(commands: readonly string[], random: Random): string {
  const verb = random.pick([...new Set(commands.map((text) => text.split(' ')[0]))]);
  return random.pick(commands.filter((text) => text.split(' ')[0] === verb));
}

function spoiled(action: string, random: Random): string {
  return random.pick([
    ` ${action}\t`,
    action.toUpperCase(),
    `${action}0`,
    action.replace(/\d+$/, '99'),
    action.replace(' ', '  '),
    '',
    'put everything away',
    'take desklamp 1 from desk 1',
    'examine cabinet 1',
  ]);
}

/** The original cannot load a game whose goal holds or fails whatever happens, so such a bend is tried again. */
function bentPlayable(plain: Problem, random: Random): Problem {
  for (;;) {
    const problem = bend(plain, random);
    try {
      const game = loadGame(problem, '');
      const plan = solve(game, game.start());
      if (plan !== null && plan.length > 0) return problem;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
}

/** States beyond the generator's: dirty, hot, open, doubled, displaced, carried. Official games contain some of them. */
function bend(problem: Problem, random: Random): Problem {
  const typed = (type: string): string[] =>
    problem.entities.filter((entity) => entity.type === type).map(({ name }) => name);
  const objects = typed('object');
  const receptacles = typed('receptacle');
  const locations = typed('location');
  let init: Fact[] = [...problem.init];
  const add = (predicate: string, ...names: string[]): void => {
    if (!init.some((entry) => entry.predicate === predicate && entry.arguments.join() === names.join()))
      init.push(fact(predicate, ...names));
  };
  const without = (drop: (entry: Fact) => boolean): void => {
    init = init.filter((entry) => !drop(entry));
  };
  const isOf = (predicate: string, name: string) => (entry: Fact) =>
    entry.predicate === predicate && entry.arguments[0] === name;
  for (const object of objects) {
    for (const flag of ['isclean', 'ishot', 'iscool', 'issliced', 'ison', 'istoggled'])
      if (random.chance(0.1)) add(flag, object);
    if (random.chance(0.1)) add('inreceptacle', object, random.pick(receptacles));
    if (random.chance(0.2)) add('objectatlocation', object, random.pick(locations));
    if (random.chance(0.05)) without(isOf('inreceptacle', object));
    if (random.chance(0.1)) without(isOf('objectatlocation', object));
    if (random.chance(0.1)) add('pickupable', object);
    if (random.chance(0.05)) without(isOf('pickupable', object));
    if (random.chance(0.1)) add('toggleable', object);
    if (random.chance(0.3)) without(isOf('isreceptacleobject', object));
    if (random.chance(0.1)) add('sliceable', object);
    if (random.chance(0.1)) add('inreceptacleobject', object, random.pick(objects));
  }
  for (const receptacle of receptacles) {
    if (random.chance(0.15)) add('opened', receptacle);
    if (random.chance(0.1)) add('openable', receptacle);
    if (random.chance(0.25)) {
      without(isOf('receptacleatlocation', receptacle));
      if (random.chance(0.9)) add('receptacleatlocation', receptacle, random.pick(locations));
    }
  }
  if (random.chance(0.3)) {
    without((entry) => entry.predicate === 'atlocation');
    add('atlocation', 'agent1', random.pick(locations));
  }
  if (random.chance(0.3)) {
    const object = random.pick(objects);
    without(isOf('inreceptacle', object));
    add('holds', 'agent1', object);
    add('holdsany', 'agent1');
  }
  return { ...problem, init };
}

/** Plays the actions by our rules, in the shape of the original's answers. */
export function playHere(problem: Problem, taskText: string, actions: readonly string[]): Shown[] {
  const game = loadGame(problem, taskText);
  const state = game.start();
  const shown = (text: string, isReset: boolean): Shown => {
    const won = game.won(state);
    return {
      text,
      admissible: game.commands(state).map((command) => command.text),
      won,
      reward: won && !isReset ? 1 : 0,
    };
  };
  const states = [shown(game.intro(state), true)];
  for (const action of actions) {
    const command = game.commands(state).find(({ text }) => text === action.trim());
    states.push(shown(command === undefined ? 'Nothing happens.' : game.apply(state, command), false));
  }
  return states;
}
