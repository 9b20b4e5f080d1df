/** One errand from beginning to end, as the policy's own conversation; now and then a command that is refused stands in between. */
import { formatAnswer } from '#core/agents/index.ts';
import type { Trajectory } from '#core/starter/document.ts';
import type { Draw } from '#core/starter/draw.ts';
import { ErrandAgent, drawErrand } from '#core/starter/errand.ts';
import type { Errand, ErrandKind, Step } from '#core/starter/errand.ts';
import {
  act,
  admissibleActions,
  commandOf,
  contentsOf,
  drawErrandWorld,
  introText,
  isAdmissible,
} from '#core/starter/errand-world.ts';
import type { ErrandAction, ErrandWorld } from '#core/starter/errand-world.ts';

const longestErrand = 40;

export interface ErrandMoment {
  world: ErrandWorld;
  errand: Errand;
  agent: ErrandAgent;
  trajectory: Trajectory;
  /** What the agent does next; null at the end. */
  next: Step | null;
}

export interface ErrandOptions {
  thought: boolean;
  /** Probability, per step, of a refused command before it. */
  slips: number;
  kind?: ErrandKind;
  /** What is searched is where the agent looks last: as long as another place is left, it is not in the one where it goes. */
  late?: boolean;
  /** Stops before the first step for which it is true. */
  until?: (moment: ErrandMoment) => boolean;
}

export function playErrand(draw: Draw, options: ErrandOptions): ErrandMoment {
  const world = drawErrandWorld(draw);
  const errand = drawErrand(world, draw, options.kind);
  const agent = new ErrandAgent(world, errand, draw);
  const observed = (text: string): Trajectory['state']['observation'] => {
    return { text, admissible: admissibleActions(world).map((action) => commandOf(world, action)) };
  };
  const history: Trajectory['state']['history'][number][] = [];
  const learned: boolean[] = [];
  let observation = observed(introText(world, errand.text));
  const base = { instruction: errand.text, actionGuide: world.guide };
  const take = (action: ErrandAction, thought: string | null, isLearned: boolean): void => {
    const command = commandOf(world, action);
    history.push({
      observation,
      answer: formatAnswer({ thought, action: command }),
      action: command,
      parseStatus: 'ok',
    });
    learned.push(isLearned);
    observation = observed(act(world, action));
    agent.saw();
  };
  for (;;) {
    const next = agent.next();
    const trajectory: Trajectory = { world: 'errand', state: { ...base, history, observation }, learned };
    const moment = { world, errand, agent, trajectory, next };
    if (next === null || history.length >= longestErrand || options.until?.(moment) === true) return moment;
    if (options.late === true && next.searches === true && next.action.kind === 'go')
      hideElsewhere(moment, next.action.place);
    if (draw.chance(options.slips)) {
      const slip = drawRefused(world, draw);
      if (slip !== null) take(slip, null, false);
    }
    take(next.action, options.thought ? next.thought : null, true);
  }
}

/** Moves what is wanted from a place to one that nobody has seen either, so that nothing that was shown becomes untrue. */
function hideElsewhere({ world, errand, agent }: ErrandMoment, from: number): void {
  const place = [...world.places.keys()].find(
    (index) => index !== from && !agent.looked.has(index) && !errand.targets.includes(index),
  );
  if (place === undefined) return;
  for (const index of contentsOf(world, from)) {
    const thing = world.things[index];
    if (thing?.kind === errand.wanted) thing.at = place;
  }
}

/** A command in the world's words that it does not allow now; null where chance finds none. */
export function drawRefused(world: ErrandWorld, draw: Draw): ErrandAction | null {
  const anyPlace = (): number => draw.integer(0, world.places.length - 1);
  const anyThing = (): number => draw.integer(0, world.things.length - 1);
  for (let tries = 0; tries < 8; tries += 1) {
    const action = draw.pick<ErrandAction>([
      { kind: 'take', thing: anyThing(), place: anyPlace() },
      { kind: 'put', thing: anyThing(), place: anyPlace() },
      { kind: 'open', place: anyPlace() },
      { kind: 'treat', thing: anyThing(), place: anyPlace() },
    ]);
    if (!isAdmissible(world, action)) return action;
  }
  return null;
}
