import type { Episode, Step } from '#shared/schema/episode.ts';
import type { PlayState } from '#shared/contract/environments.ts';

/** A step as the viewer shows it: state s_t, the action taken in it, and what came back. Stored episodes and live play make the same rows. */
export interface StepView {
  readonly index: number;
  /** s_t: the previous step's observation; for t = 0 the reset's. */
  readonly state: string;
  readonly admissible: readonly string[] | null;
  readonly thought: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly reward: number;
  readonly marks: readonly StepMark[];
}

export type StepMark = 'invalid' | 'unparsed' | 'error' | 'branched' | 'truncated' | 'success' | 'terminated';

/** What `episodes.get` gives for a step. */
export type StepSummary = Omit<Step, 'tokens'> & {
  branches: number;
  completionTokens: number;
  stateHash: string;
};

type EpisodeHead = Pick<Episode, 'initialObservation' | 'initialAdmissible' | 'success'>;

export function viewEpisode(episode: EpisodeHead, steps: readonly StepSummary[]): StepView[] {
  return steps.map((step, position) => {
    const before = steps[position - 1];
    const marks: StepMark[] = [];
    if (step.error !== null) marks.push('error');
    if (step.parseStatus !== 'ok') marks.push('unparsed');
    if (!step.valid) marks.push('invalid');
    if (step.branches > 0) marks.push('branched');
    if (step.truncated) marks.push('truncated');
    if (step.terminated)
      marks.push(episode.success && position === steps.length - 1 ? 'success' : 'terminated');
    return {
      index: step.stepIndex,
      state: before === undefined ? episode.initialObservation : before.observation,
      admissible: before === undefined ? episode.initialAdmissible : before.admissible,
      thought: step.thought,
      action: step.action,
      outcome: step.observation,
      reward: step.reward,
      marks,
    };
  });
}

export function viewPlay(play: PlayState): StepView[] {
  return play.moves.map((move, index) => {
    const before = play.moves[index - 1]?.observation ?? play.initial;
    const marks: StepMark[] = [];
    if (!move.valid) marks.push('invalid');
    if (move.truncated) marks.push('truncated');
    if (move.terminated) marks.push(move.success ? 'success' : 'terminated');
    return {
      index,
      state: before.text,
      admissible: before.admissible,
      thought: null,
      action: move.action,
      outcome: move.observation.text,
      reward: move.reward,
      marks,
    };
  });
}

/** One mark decides the colour of a minimap cell: the worst news first, then the best. */
export function dominantMark(marks: readonly StepMark[]): StepMark | null {
  const order: StepMark[] = [
    'error',
    'invalid',
    'unparsed',
    'success',
    'truncated',
    'terminated',
    'branched',
  ];
  return order.find((mark) => marks.includes(mark)) ?? null;
}

export const markLabels: Record<StepMark, string> = {
  error: 'Infrastructure error',
  invalid: 'Invalid action',
  unparsed: 'Action could not be read from the answer',
  branched: 'Alternatives were executed from this state',
  truncated: 'Step limit reached',
  success: 'Goal reached',
  terminated: 'Ended by the task',
};
