/**
 * Does the model have the skills that success is made of? A low loss hides that it never copies a name, so each skill is asked for by
 * itself, on held-out text (a stream that no training saw), as a choice between complete answers: the likeliest must be a right one.
 *
 * - copy: the wanted thing lies here among others; which one is taken;
 * - recall: the thing is in the hands; where it belongs was said at the beginning (or: where another one was seen);
 * - looked: where to search on; one place that was not looked at stands among all those that were;
 * - effect: what is observed after an action, in another world and in the household.
 */
import { wilsonInterval } from '#shared/wilson.ts';
import type { AgentState, PromptSettings } from '#core/agents/index.ts';
import { agentMessages, formatAnswer } from '#core/agents/index.ts';
import { iwmMessages } from '#core/early-experience/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { encodeConversation } from '#core/starter/chat-format.ts';
import type { ChatMessage } from '#core/starter/chat-format.ts';
import { drawOf } from '#core/starter/draw.ts';
import type { Draw } from '#core/starter/draw.ts';
import { drawRefused, playErrand } from '#core/starter/errand-play.ts';
import type { ErrandMoment } from '#core/starter/errand-play.ts';
import { act, admissibleActions, commandOf, contentsOf } from '#core/starter/errand-world.ts';
import type { ErrandAction, ErrandWorld } from '#core/starter/errand-world.ts';
import { playGroundOf, randomPlay } from '#core/starter/play.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';

export const skills = ['copy', 'recall', 'looked', 'effect', 'effect-household'] as const;
export type Skill = (typeof skills)[number];

export interface Probe {
  skill: Skill;
  /** Ids of the prompt, up to where an answer begins. */
  context: number[];
  /** Ids of each answer, its end of turn included. */
  choices: number[][];
  /** Indices of the right ones. */
  right: number[];
}

/** `tokens` and the positions (≥ 1, ascending) whose log-probabilities are asked for; the trainer's own form. */
export interface ScoredRow {
  tokens: Int32Array;
  targets: Int32Array;
}
/** Natural logarithms, one array a row, one value a target. */
export type ScoreRows = (rows: ScoredRow[], options: { signal: AbortSignal }) => Promise<Float32Array[]>;

export interface SkillResult {
  skill: Skill;
  n: number;
  right: number;
  share: number;
  /** Wilson, 95 %. */
  low: number;
  high: number;
  /** What guessing would reach. */
  chance: number;
}

const settings: PromptSettings = {
  history: { style: 'append' },
  style: 'compact',
  thought: false,
  fewShot: false,
};

/** `perSkill` probes of each skill. */
export async function buildProbes(options: {
  tokenizer: Tokenizer;
  household: EnvironmentProvider;
  seed: number;
  perSkill: number;
}): Promise<Probe[]> {
  const { tokenizer, seed, perSkill } = options;
  const ground = playGroundOf(options.household);
  const probes: Probe[] = [];
  for (const skill of skills) {
    for (let found = 0, tries = 0; found < perSkill; tries += 1) {
      if (tries > perSkill * 200) throw new RangeError(`No state shows the skill ${skill}.`);
      const draw = drawOf(seed, 'probes', skill, tries);
      const question =
        skill === 'effect-household'
          ? await householdEffect(ground.provider, draw.pick(ground.tasks), draw)
          : errandQuestion(skill, draw);
      if (question === null) continue;
      probes.push(encodeQuestion(skill, question, tokenizer));
      found += 1;
    }
  }
  return probes;
}

/** @param batch probes scored in one call */
export async function runProbes(
  probes: readonly Probe[],
  score: ScoreRows,
  options: { signal: AbortSignal; batch?: number },
): Promise<SkillResult[]> {
  const { batch = 16, signal } = options;
  const passed = new Map<Skill, boolean[]>();
  for (let from = 0; from < probes.length; from += batch) {
    const part = probes.slice(from, from + batch);
    const scored = await score(part.flatMap(rowsOf), { signal });
    let at = 0;
    for (const { skill, choices, right } of part) {
      const sums = scored
        .slice(at, at + choices.length)
        .map((row) => row.reduce((sum, value) => sum + value, 0));
      at += choices.length;
      const best = Math.max(...sums);
      // A wrong answer that is as likely as the best one is no knowledge; so is a score that is no number.
      const isPassed =
        Number.isFinite(best) && sums.every((sum, index) => sum < best || right.includes(index));
      passed.set(skill, [...(passed.get(skill) ?? []), isPassed]);
    }
  }
  return [...passed].map(([skill, results]) => {
    const n = results.length;
    const right = results.filter(Boolean).length;
    const chances = probes
      .filter((probe) => probe.skill === skill)
      .map((probe) => probe.right.length / probe.choices.length);
    const chance = chances.reduce((sum, share) => sum + share, 0) / n;
    const { low, high } = wilsonInterval(right, n) ?? { low: 0, high: 1 };
    return { skill, n, right, share: right / n, low, high, chance };
  });
}

function rowsOf({ context, choices }: Probe): ScoredRow[] {
  return choices.map((choice) => ({
    tokens: Int32Array.from([...context, ...choice]),
    targets: Int32Array.from(choice, (_, index) => context.length + index),
  }));
}

interface Question {
  messages: ChatMessage[];
  answers: string[];
  right: number[];
}

function encodeQuestion(skill: Skill, { messages, answers, right }: Question, tokenizer: Tokenizer): Probe {
  const context = encodeConversation(messages, tokenizer, { generationPrompt: true }).ids;
  const choices = answers.map((content) => {
    const { ids, spans } = encodeConversation([{ role: 'assistant', content }], tokenizer);
    return ids.slice(spans[0]?.start);
  });
  return { skill, context, choices, right };
}

function errandQuestion(skill: Exclude<Skill, 'effect-household'>, draw: Draw): Question | null {
  const fits = ({ next, agent, world, trajectory }: ErrandMoment): boolean => {
    if (next === null) return false;
    if (skill === 'copy') return next.action.kind === 'take';
    if (skill === 'looked') {
      const others = [...agent.looked].filter((place) => place !== world.here).length;
      return next.searches === true && others >= 2 && draw.chance(0.4);
    }
    if (skill === 'recall')
      return next.action.kind === 'go' && next.searches !== true && /belongs|go back/u.test(next.thought);
    return trajectory.learned.length >= 4 && draw.chance(0.3);
  };
  let isFound = false;
  const until = (moment: ErrandMoment): boolean => (isFound = fits(moment));
  const moment = playErrand(draw, { thought: false, slips: 0, until });
  if (!isFound) return null;
  return skill === 'effect' ? errandEffect(moment, draw) : errandChoice(moment);
}

/** Which of the actions of the same kind. */
function errandChoice({ world, errand, agent, trajectory, next }: ErrandMoment): Question | null {
  if (next === null) return null;
  let actions: ErrandAction[];
  let isRight: (action: ErrandAction) => boolean;
  if (next.action.kind === 'take') {
    const { place } = next.action;
    actions = world.things.flatMap(({ fixed }, thing): ErrandAction[] =>
      fixed ? [] : [{ kind: 'take', thing, place }],
    );
    isRight = (action) => {
      const thing = action.kind === 'take' ? world.things[action.thing] : undefined;
      return thing?.kind === errand.wanted && thing.at === place;
    };
  } else if (next.action.kind === 'go') {
    const goal = next.action.place;
    const searches = next.searches === true;
    actions = [...world.places.keys()].flatMap((place): ErrandAction[] =>
      place === world.here || (searches && place !== goal && !agent.looked.has(place))
        ? []
        : [{ kind: 'go', place }],
    );
    isRight = (action) => {
      if (action.kind !== 'go') return false;
      if (searches) return action.place === goal;
      if (world.held === -1) {
        const isHere = contentsOf(world, action.place).some(
          (thing) => world.things[thing]?.kind === errand.wanted,
        );
        return isHere && agent.looked.has(action.place) && !errand.targets.includes(action.place);
      }
      return action.place === goal || (errand.count === 1 && errand.targets.includes(action.place));
    };
  } else return null;
  const right = actions.flatMap((action, index) => (isRight(action) ? index : []));
  if (right.length === actions.length) return null;
  const answers = actions.map((action) => formatAnswer({ thought: null, action: commandOf(world, action) }));
  return { messages: agentMessages(trajectory.state, settings), answers, right };
}

/** What follows an action whose outcome the text so far decides, among what would follow others. */
function errandEffect({ world, agent, trajectory }: ErrandMoment, draw: Draw): Question | null {
  const decided = admissibleActions(world).filter(
    (action) =>
      action.kind !== 'look' &&
      action.kind !== 'open' &&
      (action.kind !== 'go' || agent.looked.has(action.place)),
  );
  const refused = drawRefused(world, draw);
  const asked = refused !== null && draw.chance(0.2) ? refused : draw.pick(decided);
  const outcomes = [...decided, ...(refused === null ? [] : [refused])].map((action) =>
    outcomeOf(world, action),
  );
  return effectQuestion(trajectory.state, commandOf(world, asked), outcomeOf(world, asked), outcomes);
}

function outcomeOf(world: ErrandWorld, action: ErrandAction): string {
  const { places, things, shown } = structuredClone({
    places: world.places,
    things: world.things,
    shown: world.shown,
  });
  return act({ ...world, places, things, shown }, action);
}

async function householdEffect(
  provider: EnvironmentProvider,
  task: Parameters<typeof randomPlay>[2]['task'],
  draw: Draw,
): Promise<Question | null> {
  const trajectory = await randomPlay(provider, draw, { task, steps: draw.integer(4, 10), thought: false });
  if (trajectory === null) return null;
  const { history, observation } = trajectory.state;
  const been = new Set(
    history.filter(({ action }) => action.startsWith('go to ')).map(({ action }) => action),
  );
  const session = await provider.open({ taskId: task.taskId, seed: 0 });
  try {
    await session.replayTo(history.map(({ action }) => action));
    const before = await session.snapshot();
    // A place that was looked into shows what it showed, unless it was opened or robbed since: then its own history tells.
    const decided = (observation.admissible ?? []).filter(
      (action) => !/^(?:go to|open|examine|look|help|use)\b/u.test(action) || been.has(action),
    );
    if (decided.length === 0) return null;
    const wrong = draw.chance(0.2);
    const gone = history.flatMap((turn) => turn.observation.admissible ?? []);
    const impossible = gone.filter((action) => observation.admissible?.includes(action) === false);
    const asked = wrong && impossible.length > 0 ? draw.pick(impossible) : draw.pick(decided);
    const outcomes: string[] = ['Nothing happens.'];
    let answer = '';
    for (const action of new Set([...decided, asked])) {
      await session.restore(before);
      const { text } = (await session.step(action)).observation;
      if (action === asked) answer = text;
      outcomes.push(text);
    }
    return effectQuestion(trajectory.state, asked, answer, outcomes);
  } finally {
    await session.close();
  }
}

function effectQuestion(
  state: AgentState,
  action: string,
  answer: string,
  outcomes: readonly string[],
): Question | null {
  const distinct = [...new Set([answer, ...outcomes])];
  const rows = distinct.map((observation) =>
    iwmMessages(state, { action, observation }, { ...settings, stripRewardText: false }),
  );
  const answers = rows.map((row) => row?.at(-1)?.content ?? '');
  if (distinct.length < 2 || answers.includes('')) return null;
  return { messages: (rows[0] ?? []).slice(0, -1), answers, right: [0] };
}
