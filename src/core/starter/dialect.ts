/**
 * How one other world speaks: its verbs, its sentences, its errands. Drawn anew for each world, so that what stays the same in all
 * of them (names are repeated, what was seen is still there) is the only thing worth learning. None is the household's.
 *
 * No message begins with a name: at the beginning a word is another token than after a space.
 *
 * In templates {o} is a thing, {p} a place, {l} a list, {k} and {s} kinds (of a thing, of a place), {v} and {d} a verb and its
 * participle.
 */
import type { Draw } from '#core/starter/draw.ts';
import { fixtureVerbs, treatments } from '#core/starter/words.ts';

export interface Dialect {
  go: string;
  open: string;
  close: string;
  take: string;
  put: string;
  treat: string;
  use: string;
  look: string;
  inventory: string;
  said: { arrive: string; shut: string; shows: string; opened: string; closed: string; taken: string };
  done: { put: string; treat: string; use: string; carrying: string; empty: string; refused: string };
  intro: string;
  errandLine: string;
  nothing: string;
  articles: boolean;
  words: readonly [thing: string, place: string];
  treatment: { verb: string; participle: string };
}

export function drawDialect(draw: Draw): Dialect {
  const [verb, participle] = draw.pick(treatments);
  const preposition = draw.pick(['at', 'with', 'on']);
  return {
    go: draw.pick(['walk to {p}', 'head to {p}', 'visit {p}', 'approach {p}', 'run to {p}', 'step to {p}']),
    open: draw.pick(['unlatch {p}', 'uncover {p}', 'unlock {p}', 'untie {p}', 'unseal {p}']),
    close: draw.pick(['shut {p}', 'cover {p}', 'lock {p}', 'seal {p}']),
    take: draw.pick(['grab {o} off {p}', 'pick {o} out of {p}', 'fetch {o} at {p}', 'collect {o} from {p}']),
    put: draw.pick([
      'leave {o} at {p}',
      'drop {o} at {p}',
      'lay {o} on {p}',
      'store {o} in {p}',
      'hand {o} to {p}',
    ]),
    treat: `${verb} {o} ${preposition} {p}`,
    use: `${draw.pick(fixtureVerbs)} {o}`,
    look: draw.pick(['survey', 'look around', 'gaze about']),
    inventory: draw.pick(['check bag', 'count belongings', 'feel pockets']),
    said: {
      arrive: draw.pick(['You reach {p}.', 'You are at {p} now.', 'You come to {p}.', 'Here is {p}.']),
      shut: draw.pick(['It is shut.', '{p} is shut.', '{p} is sealed.', 'It cannot be looked into.']),
      shows: draw.pick([
        'It holds {l}.',
        'There you find {l}.',
        '{p} holds {l}.',
        'On it: {l}.',
        'You notice {l}.',
      ]),
      opened: draw.pick(['Slowly {p} comes open.', 'You get {p} open.', 'At last {p} gives way.']),
      closed: draw.pick(['Now {p} is shut.', 'You shut {p}.']),
      taken: draw.pick([
        'Now you have {o}.',
        'Into your hands goes {o}.',
        'You hold {o} from {p}.',
        'You got {o}.',
      ]),
    },
    done: {
      put: draw.pick(['Now {o} is at {p}.', 'You let go of {o} at {p}.', 'Now {p} has {o}.']),
      treat: draw.pick([`Now {o} is ${participle}.`, `You ${verb} {o} ${preposition} {p}.`]),
      use: draw.pick(['You work {o}.', 'You hear {o}.', 'Something moves in {o}.']),
      carrying: draw.pick(['You carry {o}.', 'In your hands: {o}.']),
      empty: draw.pick(['You carry nothing.', 'Your hands are free.']),
      refused: draw.pick([
        'That does not work.',
        'You cannot do that.',
        'Not possible here.',
        'It has no effect.',
      ]),
    },
    intro: draw.pick([
      'You are in a {x}. Around you are {l}.',
      'This is a {x}. You can see {l}.',
      'You enter a {x} with {l}.',
    ]),
    errandLine: draw.pick(['Your errand: {t}.', 'You are asked to {t}.', 'Wanted: {t}.']),
    nothing: draw.pick(['nothing', 'no things']),
    articles: draw.chance(0.6),
    words: draw.pick([
      ['THING', 'PLACE'],
      ['OBJECT', 'RECEPTACLE'],
    ] as const),
    treatment: { verb, participle },
  };
}

export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w)\}/gu, (_, key: string) => values[key] ?? '');
}

export function listed(dialect: Dialect, names: readonly string[]): string {
  const items = dialect.articles ? names.map((name) => `a ${name}`) : names;
  if (items.length < 2) return items[0] ?? dialect.nothing;
  return `${items.slice(0, -1).join(', ')}${dialect.articles ? ',' : ''} and ${items.at(-1) ?? ''}`;
}

/** The world's action guide, in the form in which environments give theirs. */
export function guideOf(
  dialect: Dialect,
  example: { thing: string; place: string; station: string; fixture: string },
): string {
  const [thing, place] = dialect.words;
  const line = (template: string, values: Record<string, string>): string => {
    const shown = fill(template, { o: thing, p: place, ...values });
    return `- ${shown}            e.g. ${fill(template, { o: example.thing, p: example.place })}`;
  };
  return [
    'Each turn you give exactly one command, with the names and numbers that you were shown:',
    line(dialect.go, {}),
    `- ${fill(dialect.open, { p: place })}, ${fill(dialect.close, { p: place })} (only where you are)`,
    line(dialect.take, {}),
    line(dialect.put, {}),
    `- ${fill(dialect.treat, { o: thing, p: example.station })} (what you hold)`,
    `- ${fill(dialect.use, { o: example.fixture })}`,
    `- ${dialect.look}, ${dialect.inventory}`,
    `You carry one thing at a time. "${dialect.done.refused}" means that the command was not possible.`,
  ].join('\n');
}
