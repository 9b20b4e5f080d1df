/** What a job says about its episodes while they finish: totals, metrics by episode number, one event each. */
import type { ErrorRecord } from '#shared/errors.ts';
import type { JobId } from '#shared/ids.ts';
import type { EndReason, Episode, Step } from '#shared/schema/episode.ts';
import type { JobContext } from '#core/jobs/port.ts';

/** One character a step, for the GUI's strip. */
export type StepMark = '.' | '+' | '-' | 'x' | 'p';

/** `+` rewarded, `-` punished, `p` unreadable answer, `x` invalid action, `.` anything else. */
export function stepMark(step: Pick<Step, 'reward' | 'parseStatus' | 'valid'>): StepMark {
  if (step.reward > 0) return '+';
  if (step.reward < 0) return '-';
  if (step.parseStatus !== 'ok') return 'p';
  return step.valid ? '.' : 'x';
}

export class EpisodeTally {
  episodes = 0;
  reused = 0;
  scored = 0;
  successes = 0;
  failed = 0;
  steps = 0;
  invalid = 0;
  parseFailures = 0;
  reward = 0;
  promptTokens = 0;
  evaluatedPromptTokens = 0;
  completionTokens = 0;
  /** Episodes with steps of a model whose server did not count. */
  readonly #uncounted = { prompt: 0, completion: 0 };
  /** How the scored episodes ended: a prompt limit that cuts them short must be seen beside the success rate. */
  readonly endReasons: Partial<Record<EndReason, number>> = {};
  readonly byTaskType: Record<string, { scored: number; successes: number }> = {};
  /** Jobs that played the reused episodes. */
  readonly reusedFrom = new Set<JobId>();
  lastError: ErrorRecord | null = null;

  add(episode: Episode): void {
    this.episodes += 1;
    this.promptTokens += episode.promptTokens;
    this.evaluatedPromptTokens += episode.evaluatedPromptTokens;
    this.completionTokens += episode.completionTokens;
    if (episode.policy.kind === 'model' && episode.steps > 0) {
      this.#uncounted.prompt += episode.promptTokens === 0 ? 1 : 0;
      this.#uncounted.completion += episode.completionTokens === 0 ? 1 : 0;
    }
    if (episode.status !== 'finished') {
      this.failed += 1;
      this.lastError = episode.error;
      return;
    }
    this.scored += 1;
    if (episode.endReason !== null) {
      this.endReasons[episode.endReason] = (this.endReasons[episode.endReason] ?? 0) + 1;
    }
    this.successes += episode.success ? 1 : 0;
    const ofType = (this.byTaskType[episode.taskType] ??= { scored: 0, successes: 0 });
    ofType.scored += 1;
    ofType.successes += episode.success ? 1 : 0;
    this.steps += episode.steps;
    this.invalid += episode.invalidActions;
    this.parseFailures += episode.parseFailures;
    this.reward += episode.totalReward;
  }

  addReused(episode: Episode): void {
    this.add(episode);
    this.reused += 1;
    if (episode.jobId !== null) this.reusedFrom.add(episode.jobId);
  }

  /** Metrics are running means over the scored episodes; failures are not in them. */
  report(context: JobContext<unknown>, episode: Episode, steps: readonly Step[]): void {
    const at = this.episodes;
    if (this.scored > 0) {
      // With it the rate has its n.
      context.metric('episodes-scored', at, this.scored);
      context.metric('success-rate', at, this.successes / this.scored);
      context.metric('mean-reward', at, this.reward / this.scored);
      context.metric('mean-steps', at, this.steps / this.scored);
    }
    if (this.steps > 0) {
      context.metric('invalid-share', at, this.invalid / this.steps);
      context.metric('parse-failure-share', at, this.parseFailures / this.steps);
    }
    const { prompt, completion } = this.#uncounted;
    if (completion === 0) context.metric('completion-tokens', at, this.completionTokens);
    if (prompt === 0) context.metric('evaluated-prompt-tokens', at, this.evaluatedPromptTokens);
    const failed = episode.status === 'failed';
    const outcome = failed ? (episode.error?.code ?? 'failed') : episode.success ? 'success' : 'no success';
    context.emit({
      type: failed ? 'episode-failed' : 'episode-finished',
      level: failed ? 'warn' : 'info',
      message: `${episode.taskType}: ${outcome} after ${String(episode.steps)} steps`,
      data: {
        episodeId: episode.episodeId,
        taskId: episode.taskId,
        taskType: episode.taskType,
        instruction: episode.instruction,
        reward: episode.totalReward,
        steps: episode.steps,
        success: episode.success,
        endReason: episode.endReason,
        errorCode: episode.error?.code ?? null,
        retries: episode.retries,
        strip: steps.map(stepMark).join(''),
        actions: steps.map((step) => step.action),
      },
    });
  }

  /** Counts of tokens are null where the model's server did not tell them: none is better than too few. */
  result() {
    const { prompt, completion } = this.#uncounted;
    return {
      episodes: this.episodes,
      reused: this.reused,
      reusedFrom: [...this.reusedFrom],
      scored: this.scored,
      successes: this.successes,
      successRate: this.scored === 0 ? null : this.successes / this.scored,
      meanReward: this.scored === 0 ? null : this.reward / this.scored,
      failed: this.failed,
      endReasons: this.endReasons,
      byTaskType: this.byTaskType,
      steps: this.steps,
      invalidActions: this.invalid,
      parseFailures: this.parseFailures,
      promptTokens: prompt > 0 ? null : this.promptTokens,
      evaluatedPromptTokens: prompt > 0 ? null : this.evaluatedPromptTokens,
      completionTokens: completion > 0 ? null : this.completionTokens,
    };
  }
}
