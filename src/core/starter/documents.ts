/**
 * The pre-training text. Document `index` is a function of (seed, stream, index) alone, so a run may stop and go on anywhere, and the
 * held-out text of the probes is another stream. Every conversation is built by the functions that build the policy's prompts and the
 * data sets' rows, so their bytes are the same.
 *
 * What it never holds: a demonstration of the household, or anything of its development, seen and unseen splits.
 */
import type { PromptSettings } from '#core/agents/index.ts';
import { agentMessages, formatAnswer } from '#core/agents/index.ts';
import { iwmMessages, reflectionMessages, reflectionPrompt } from '#core/early-experience/index.ts';
import type { Task } from '#shared/schema/environment.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { prefixOf } from '#core/starter/document.ts';
import type {
  DocumentKind,
  LossWeights,
  TextDocument,
  Trajectory,
  WeightedMessage,
} from '#core/starter/document.ts';
import { drawOf } from '#core/starter/draw.ts';
import type { Draw } from '#core/starter/draw.ts';
import { drawRefused, playErrand } from '#core/starter/errand-play.ts';
import { act, admissibleActions, commandOf } from '#core/starter/errand-world.ts';
import type { ErrandAction } from '#core/starter/errand-world.ts';
import { playGroundOf, randomPlay, tasksOfBlock } from '#core/starter/play.ts';
import { othersThan, reflectionText } from '#core/starter/reflect.ts';

export interface DocumentOptions {
  seed: number;
  /** `train`, or another name for text that no training saw. */
  stream: string;
  /** Relative numbers of documents. */
  mix: Readonly<Record<DocumentKind, number>>;
  weights: LossWeights;
  /** Share of conversations whose system message asks for thoughts. */
  thoughts: number;
  /** Share of single steps in the full prompt style; the rest is compact. */
  full: number;
  /** Random play: how much of it in each environment, by relative number. */
  play: readonly { provider: EnvironmentProvider; share: number }[];
}

export const defaultDocuments = {
  mix: { errand: 36, search: 26, play: 20, prediction: 28, reflection: 5, generation: 6 },
  weights: { action: 1, search: 2.5, observation: 0.3 },
  thoughts: 0.25,
  full: 0.03,
} as const;

const documentsOfBlock = 64;

export interface DocumentSource {
  document(index: number): Promise<TextDocument>;
}

export function createDocumentSource(options: DocumentOptions): DocumentSource {
  const grounds = options.play.map(({ provider, share }) => ({ ground: playGroundOf(provider), share }));
  const kinds = Object.entries(options.mix) as [DocumentKind, number][];

  let block = -1;
  let tasks: Task[][] = [];
  const play = async (
    index: number,
    draw: Draw,
    steps: number,
    thought: boolean,
  ): Promise<Trajectory | null> => {
    if (block !== Math.floor(index / documentsOfBlock)) {
      block = Math.floor(index / documentsOfBlock);
      tasks = grounds.map(({ ground }) => tasksOfBlock(ground, options.seed, options.stream, block));
    }
    const ground = weighted([...grounds.keys()], (at) => grounds[at]?.share ?? 0, draw);
    const { provider } = grounds[ground]?.ground ?? {};
    if (provider === undefined) throw new RangeError('Random play needs an environment.');
    return randomPlay(provider, draw, { task: draw.pick(tasks[ground] ?? []), steps, thought });
  };

  const attempt = async (index: number, kind: DocumentKind, draw: Draw): Promise<TextDocument | null> => {
    const thought = draw.chance(options.thoughts);
    const settings: PromptSettings = {
      history: { style: 'append' },
      style: 'compact',
      thought,
      fewShot: false,
    };
    switch (kind) {
      case 'errand':
        return acted(
          kind,
          playErrand(draw, { thought, slips: 0.02, late: draw.chance(0.3) }).trajectory,
          settings,
          options,
          draw,
        );
      case 'search': {
        const { trajectory } = playErrand(draw, { thought, slips: 0.02, kind: 'find', late: true });
        const weights = { ...options.weights, action: options.weights.search };
        return acted(kind, trajectory, settings, { weights, full: 0 }, draw);
      }
      case 'play': {
        const trajectory = await play(index, draw, draw.integer(5, 14), thought);
        return trajectory === null ? null : acted(kind, trajectory, settings, options, draw);
      }
      case 'prediction': {
        const trajectory = draw.chance(0.65)
          ? errandBranch(draw, thought)
          : await play(index, draw, draw.integer(2, 10), thought);
        return trajectory === null ? null : predicted(trajectory, settings, options.weights);
      }
      case 'reflection':
        return reflected(draw, settings, options.weights);
      case 'generation':
        return generated(draw, options.weights);
    }
  };

  return {
    async document(index) {
      const kind = weighted(kinds, ([, share]) => share, drawOf(options.seed, options.stream, index))[0];
      for (let tries = 0; ; tries += 1) {
        const made = await attempt(index, kind, drawOf(options.seed, options.stream, index, tries));
        if (made !== null) return made;
      }
    },
  };
}

function weighted<Item>(items: readonly Item[], weightOf: (item: Item) => number, draw: Draw): Item {
  const total = items.reduce((sum, item) => sum + weightOf(item), 0);
  let left = (draw.integer(0, 999_999) / 1_000_000) * total;
  const chosen = items.find((item) => (left -= weightOf(item)) < 0) ?? items.at(-1);
  if (chosen === undefined) throw new RangeError('There is nothing to pick from.');
  return chosen;
}

/** A whole episode in one conversation, or, in the full style, one step as the policy is asked for it. */
function acted(
  kind: DocumentKind,
  trajectory: Trajectory,
  settings: PromptSettings,
  options: Pick<DocumentOptions, 'weights' | 'full'>,
  draw: Draw,
): TextDocument {
  const { world, state, learned } = trajectory;
  const { weights } = options;
  if (draw.chance(options.full)) {
    const steps = [...learned.keys()].filter((index) => learned[index] === true);
    const step = draw.pick(steps.length === 0 ? [0] : steps);
    const turn = state.history[step];
    const history = { style: 'window', steps: 2 } as const;
    const prompt = agentMessages(prefixOf(trajectory, step), { ...settings, style: 'full', history });
    const answer = { role: 'assistant', content: turn?.answer ?? '', weight: weights.action } as const;
    return {
      kind,
      world,
      messages: [...prompt.map(({ role, content }) => ({ role, content, weight: 0 })), answer],
    };
  }
  let turns = 0;
  const messages = agentMessages(state, settings).map(({ role, content }): WeightedMessage => {
    if (role === 'system') return { role, content, weight: 0 };
    if (role === 'user') return { role, content, weight: weights.observation };
    turns += 1;
    return { role, content, weight: learned[turns - 1] === true ? weights.action : 0 };
  });
  return { kind, world, messages };
}

/** An errand up to a random step, and then any action, possible or not: what is observed after it. */
function errandBranch(draw: Draw, thought: boolean): Trajectory {
  const steps = draw.integer(0, 9);
  const moment = playErrand(draw, {
    thought,
    slips: 0,
    until: ({ trajectory }) => trajectory.state.history.length >= steps,
  });
  const { world, trajectory } = moment;
  const action = (draw.chance(0.2) ? drawRefused(world, draw) : null) ?? draw.pick(admissibleActions(world));
  const command = commandOf(world, action);
  const { state } = trajectory;
  const turn = {
    observation: state.observation,
    answer: formatAnswer({ thought: null, action: command }),
    action: command,
    parseStatus: 'ok',
  } as const;
  const observation = { text: act(world, action), admissible: null };
  return { ...trajectory, state: { ...state, history: [...state.history, turn], observation } };
}

/** The last step of a trajectory as a row of the world model. */
function predicted(
  trajectory: Trajectory,
  settings: PromptSettings,
  weights: LossWeights,
): TextDocument | null {
  const steps = trajectory.state.history.length - 1;
  const last = trajectory.state.history[steps];
  if (last === undefined) return null;
  const branch = { action: last.action, observation: trajectory.state.observation.text };
  const messages = iwmMessages(prefixOf(trajectory, steps), branch, { ...settings, stripRewardText: true });
  if (messages === null) return null;
  const target = messages.length - 1;
  return {
    kind: 'prediction',
    world: trajectory.world,
    messages: messages.map(({ role, content }, index) => {
      // The last user message is the fixed question; those before it are observations.
      const observed = role === 'user' && index < target - 1;
      return {
        role,
        content,
        weight: index === target ? weights.action : observed ? weights.observation : 0,
      };
    }),
  };
}

function reflected(draw: Draw, settings: PromptSettings, weights: LossWeights): TextDocument | null {
  const steps = draw.integer(0, 9);
  const moment = playErrand(draw, {
    thought: false,
    slips: 0,
    until: ({ trajectory }) => trajectory.state.history.length >= steps,
  });
  if (moment.next === null) return null;
  const { state } = moment.trajectory;
  const command = commandOf(moment.world, moment.next.action);
  const text = reflectionText(moment, moment.next, othersThan(moment.next, moment), draw);
  const messages = reflectionMessages(state, text, command, settings);
  const target = messages.length - 1;
  return {
    kind: 'reflection',
    world: 'errand',
    messages: messages.map(({ role, content }, index) => {
      const weight = index === target ? weights.action : role === 'user' ? weights.observation : 0;
      return { role, content, weight };
    }),
  };
}

/** The other side of a reflection: asked with the outcomes of all actions, as the generator is, for the thoughts before acting. */
function generated(draw: Draw, weights: LossWeights): TextDocument | null {
  const steps = draw.integer(0, 6);
  const moment = playErrand(draw, {
    thought: false,
    slips: 0,
    until: ({ trajectory }) => trajectory.state.history.length >= steps,
  });
  const { world, next } = moment;
  if (next === null) return null;
  const others = draw.some(othersThan(next, moment), 3);
  const outcome = (action: ErrandAction): string => act(structuredClone(world), action);
  const prompt = reflectionPrompt(draw.chance(0.75) ? 'anticipatory' : 'paper', {
    family: 'errand',
    state: moment.trajectory.state,
    expertAction: commandOf(world, next.action),
    expertOutcome: outcome(next.action),
    alternatives: others.map((action) => ({
      action: commandOf(world, action),
      observation: outcome(action),
    })),
    maxWords: 200,
  });
  return {
    kind: 'generation',
    world: 'errand',
    messages: [
      { role: 'user', content: prompt, weight: 0 },
      {
        role: 'assistant',
        content: reflectionText(moment, next, others, draw),
        weight: weights.action,
      },
    ],
  };
}
