/**
 * Random play in the household's train tasks: it teaches which actions exist, which are possible when, and what they do. Actions are
 * drawn by kind of verb so that taking and opening are not lost among the many places to go; an episode that happens to succeed is
 * refused, so nobody is shown how.
 */
import type { Task } from '#shared/schema/environment.ts';
import { formatAnswer } from '#core/agents/index.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import type { Trajectory } from '#core/starter/document.ts';
import { drawOf } from '#core/starter/draw.ts';
import type { Draw } from '#core/starter/draw.ts';

const refused = 0.06;
/** Verbs that are drawn rarely, or never: `help` is a page of text. */
const rarely: Readonly<Record<string, number>> = { examine: 0.3, inventory: 0.15, look: 0.15, help: 0 };

export interface PlayGround {
  provider: EnvironmentProvider;
  /** Of the train split only. */
  tasks: readonly Task[];
}

export function playGroundOf(provider: EnvironmentProvider): PlayGround {
  return { provider, tasks: provider.listTasks({ split: 'train' }).tasks };
}

/** The tasks of block `block`: documents near each other share a few, because a game costs more to build than to play. */
export function tasksOfBlock({ tasks }: PlayGround, seed: number, stream: string, block: number): Task[] {
  return drawOf(seed, stream, 'tasks', block).some(tasks, 8);
}

/** null when the walk reached the goal. */
export async function randomPlay(
  provider: EnvironmentProvider,
  draw: Draw,
  options: { task: Task; steps: number; thought: boolean },
): Promise<Trajectory | null> {
  const { task } = options;
  const session = await provider.open({ taskId: task.taskId, seed: 0 });
  try {
    const trajectory: Trajectory = {
      world: task.environmentId,
      state: {
        instruction: task.instruction,
        actionGuide: provider.describe().actionGuide,
        history: [],
        observation: await session.reset(),
      },
      learned: [],
    };
    const history: Trajectory['state']['history'][number][] = [];
    const once = new Set<string>();
    for (let step = 0; step < options.steps; step += 1) {
      const { observation } = trajectory.state;
      const admissible = observation.admissible ?? [];
      const gone = [...once].filter((action) => !admissible.includes(action));
      const slips = gone.length > 0 && draw.chance(refused);
      const action = slips ? draw.pick(gone) : drawByVerb(admissible, draw);
      for (const possible of admissible) once.add(possible);
      const outcome = await session.step(action);
      if (outcome.success) return null;
      const thought = options.thought && !slips ? thoughtOf(action, draw) : null;
      history.push({ observation, answer: formatAnswer({ thought, action }), action, parseStatus: 'ok' });
      trajectory.learned.push(!slips);
      trajectory.state = { ...trajectory.state, history, observation: outcome.observation };
      if (outcome.terminated || outcome.truncated) break;
    }
    return trajectory;
  } finally {
    await session.close();
  }
}

function drawByVerb(admissible: readonly string[], draw: Draw): string {
  const byVerb = new Map<string, string[]>();
  for (const action of admissible) {
    const end = action.indexOf(' ');
    const verb = end === -1 ? action : action.slice(0, end);
    const actions = byVerb.get(verb);
    if (actions === undefined) byVerb.set(verb, [action]);
    else actions.push(action);
  }
  const verbs = [...byVerb.keys()].filter((verb) => draw.chance(rarely[verb] ?? 1));
  return draw.pick(byVerb.get(verbs.length === 0 ? 'go' : draw.pick(verbs)) ?? admissible);
}

/** Says what is done, never why it would help. */
function thoughtOf(action: string, draw: Draw): string {
  return draw.pick([`I try to ${action}.`, `I could ${action}.`, `Let me ${action} and see what happens.`]);
}
