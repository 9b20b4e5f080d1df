/** One loaded game and its rules: pure functions of a state, shared by every session of the same task. */
import { AppError } from '#shared/errors.ts';
import { admissibleCommands, applyAction, goCommands } from './actions.ts';
import type { Command } from './actions.ts';
import { feedbackText, introText } from './feedback.ts';
import { goalHolds, groundGoal, waysToGoal } from './goal.ts';
import type { Conjunction, GroundGoal } from './goal.ts';
import type { Problem } from './problem.ts';
import { agentLocation, initialState, layoutOf } from './state.ts';
import type { State, StateLayout } from './state.ts';
import { compileWorld } from './world.ts';
import type { World } from './world.ts';

export interface AlfredGame {
  readonly world: World;
  readonly layout: StateLayout;
  readonly goal: GroundGoal;
  /** The last paragraph of the intro, e.g. `Your task is to: put a mug in desk.` */
  readonly taskText: string;
  start(): State;
  intro(state: State): string;
  commands(state: State): Command[];
  /** Changes the state and returns the sentence. The command must come from `commands(state)`. */
  apply(state: State, command: Command): string;
  won(state: State): boolean;
  /** Ways to the goal for the solver; null: too many. */
  ways(): readonly Conjunction[] | null;
}

/** @throws AppError ENVIRONMENT_DATA_INVALID */
export function loadGame(problem: Problem, taskText: string): AlfredGame {
  const world = compileWorld(problem);
  const layout = layoutOf(world);
  const goal = groundGoal(world);
  if (typeof goal === 'boolean') {
    throw new AppError({
      code: 'ENVIRONMENT_DATA_INVALID',
      message: goal ? 'Its goal holds whatever happens.' : 'Its goal can never be reached.',
    });
  }
  const first = initialState(world, layout);
  const go = new Map<number, Command[]>();
  let ways: Conjunction[] | null | undefined;
  return {
    world,
    layout,
    goal,
    taskText,
    start: () => first.slice(),
    intro: (state) => introText(world, layout, state, taskText),
    commands(state) {
      const location = agentLocation(state);
      let away = go.get(location);
      if (away === undefined) {
        away = goCommands(world, location);
        go.set(location, away);
      }
      return admissibleCommands(world, layout, state, away);
    },
    apply(state, command) {
      applyAction(world, layout, state, command.action);
      return feedbackText(world, layout, state, command.action);
    },
    won: (state) => goalHolds(goal, world, layout, state),
    ways() {
      if (ways === undefined) ways = waysToGoal(goal);
      return ways;
    },
  };
}
