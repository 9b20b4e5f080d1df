/**
 * task → episode: reset, then (state → policy → action → step) until the environment or a limit ends it. Every step is stored
 * with its tokens; an infrastructure failure restarts the episode and is never a zero reward.
 */
import { AppError, isInfrastructureError, toAppError } from '#shared/errors.ts';
import type { EpisodeId, JobId } from '#shared/ids.ts';
import type { EnvironmentDescription, Observation, Task } from '#shared/schema/environment.ts';
import type { EndReason, Episode, EpisodePurpose, Step } from '#shared/schema/episode.ts';
import type { Limits } from '#shared/schema/run.ts';
import type { Clock, Logger } from '#core/ports.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';
import type { Store } from '#core/store/port.ts';
import { matchAdmissible } from '#core/agents/actions.ts';
import { closeAll } from '#core/agents/close-all.ts';
import { newEpisode, recordStep } from '#core/agents/episode-record.ts';
import { episodeIdOf, policyKeyOf } from '#core/agents/identity.ts';
import type { Actor, AgentPolicy, Decision } from '#core/agents/policy.ts';
import type { Turn } from '#core/agents/prompt.ts';
import { seedOf } from '#core/agents/random.ts';
import { withDeadline } from '#core/agents/deadline.ts';
import { withRetries } from '#core/agents/retry.ts';

export interface EpisodePlan {
  task: Task;
  purpose: EpisodePurpose;
  jobId: JobId | null;
  /** Of the environment and of the samples. */
  seed: number;
  rolloutIndex: number;
}

export interface EpisodeWorld {
  provider: EnvironmentProvider;
  policy: AgentPolicy;
  limits: Limits;
  store: Pick<Store, 'episodes' | 'addRealSteps' | 'tasks' | 'transaction'>;
  clock: Clock;
  log: Logger;
  /** How the last write of the episode is committed; a job puts its checkpoint into the same transaction. */
  commit?: (episode: Episode, steps: readonly Step[], write: () => void) => void;
  /** The store holds more of a running episode than before: its start, or one more step. */
  onStored?: () => void;
  /** An infrastructure failure broke an attempt off after so many steps, and the episode is begun again. */
  onRestart?: (plan: EpisodePlan, broke: { steps: number; error: AppError }) => void;
}

export interface EpisodeResult {
  episode: Episode;
  steps: Step[];
}

export function planId(
  plan: EpisodePlan,
  world: Pick<EpisodeWorld, 'provider' | 'policy' | 'limits'>,
): EpisodeId {
  const description = world.provider.describe();
  const { maxPromptTokens, maxInvalidInARow } = world.limits;
  return episodeIdOf({
    purpose: plan.purpose,
    environmentId: plan.task.environmentId,
    environmentVersion: description.version,
    dataChecksum: description.dataChecksum,
    taskId: plan.task.taskId,
    seed: plan.seed,
    policyKey: policyKeyOf(world.policy.facts),
    rolloutIndex: plan.rolloutIndex,
    limits: { maxSteps: stepLimit(world.limits, description), maxPromptTokens, maxInvalidInARow },
  });
}

/**
 * Plays one episode and stores it. After the last failed attempt the episode is stored as `failed` with its error and returned.
 *
 * @throws AppError CANCELLED when aborted (the episode is stored as `abandoned`), and whatever is no infrastructure failure
 */
export async function runEpisode(
  plan: EpisodePlan,
  world: EpisodeWorld,
  options: { signal: AbortSignal },
): Promise<EpisodeResult> {
  const { clock, limits, store } = world;
  const draft = draftEpisode(plan, world);
  store.tasks.upsert([plan.task]);
  // An attempt stands, here as in the store, until another one has really begun.
  const stands: { attempt: EpisodeResult | null; broke: AppError | null } = { attempt: null, broke: null };
  const begin = (attempt: EpisodeResult): void => {
    store.transaction(() => {
      const before = stands.attempt;
      // What a broken attempt executed was really executed, and what was stored of it stays.
      if (before !== null) store.addRealSteps(plan.task.split, before.steps.length);
      if (!world.policy.expensive) return;
      if (before !== null) store.episodes.finish(brokenOff(before.episode, stands.broke, clock.now()));
      store.episodes.begin({ ...attempt.episode });
    });
    stands.attempt = attempt;
    if (world.policy.expensive) world.onStored?.();
  };
  let restarts = 0;
  try {
    return await withRetries(
      async (retries) => {
        restarts = retries;
        const episode = { ...draft, retries, startedAt: clock.now() };
        let attempt: EpisodeResult;
        try {
          attempt = await withDeadline(
            {
              what: 'The episode',
              kept: 'Its steps are kept and not scored',
              ms: limits.episodeTimeoutMs,
              signal: options.signal,
            },
            (timed) => playOnce(episode, begin, plan, world, timed),
          );
        } catch (thrown) {
          stands.broke = failureOf(thrown, options.signal);
          throw stands.broke;
        }
        return finish(attempt, world, attempt.steps.length);
      },
      {
        retries: limits.retries,
        signal: options.signal,
        onRetry: (error) => world.onRestart?.(plan, { steps: stands.attempt?.steps.length ?? 0, error }),
      },
    );
  } catch (thrown) {
    const error = toAppError(thrown);
    const status = error.code === 'CANCELLED' ? 'abandoned' : 'failed';
    const { episode, steps } = stands.attempt ?? leftBehind(draft, store);
    const executed = stands.attempt === null ? 0 : steps.length;
    const ended = {
      ...episode,
      retries: restarts,
      status,
      endReason: null,
      error: error.toRecord(),
    } as const;
    const stored = finish({ episode: ended, steps }, world, executed);
    if (isInfrastructureError(error.code) && error.code !== 'DISK_FULL') return stored;
    throw error;
  }
}

/** An attempt that is begun again. Success is a statement about the policy; this one makes none. */
function brokenOff(episode: Episode, error: AppError | null, at: number): Episode {
  return {
    ...episode,
    status: 'abandoned',
    endReason: null,
    success: false,
    error: error?.toRecord() ?? null,
    finishedAt: at,
  };
}

/** What an earlier job stored of this episode, where none of this one's attempts came as far as a first observation. */
function leftBehind(draft: Episode, { episodes }: Pick<Store, 'episodes'>): EpisodeResult {
  const stored = episodes.get(draft.episodeId);
  if (stored === null) return { episode: draft, steps: [] };
  return { episode: { ...stored, jobId: draft.jobId }, steps: episodes.steps(draft.episodeId) };
}

/** @param begin called with the attempt once the world is open and shows its first observation; it grows from there */
async function playOnce(
  episode: Episode,
  begin: (attempt: EpisodeResult) => void,
  plan: EpisodePlan,
  world: EpisodeWorld,
  signal: AbortSignal,
): Promise<EpisodeResult> {
  const { provider, policy, store, limits } = world;
  const description = provider.describe();
  const session = await provider.open({ taskId: plan.task.taskId, seed: plan.seed, signal });
  let actor: Actor | undefined;
  try {
    actor = policy.actor({
      episodeId: episode.episodeId,
      seed: seedOf('samples', plan.seed, episode.episodeId),
      maxPromptTokens: limits.maxPromptTokens,
    });
    let observation = await session.reset({ signal });
    episode.initialObservation = observation.text;
    episode.initialAdmissible = observation.admissible === null ? null : [...observation.admissible];
    const steps: Step[] = [];
    begin({ episode, steps });
    const history: Turn[] = [];
    const maxSteps = stepLimit(limits, description);
    let invalidInARow = 0;
    while (episode.endReason === null) {
      signal.throwIfAborted();
      const step = await oneStep(
        episode,
        { observation, history, session, actor, description, maxSteps },
        world,
        signal,
      );
      if (typeof step === 'string') {
        episode.endReason = step;
        break;
      }
      steps.push(step);
      if (policy.expensive) {
        store.episodes.appendSteps([step]);
        world.onStored?.();
      }
      observation = { text: step.observation, admissible: step.admissible };
      invalidInARow = step.valid ? 0 : invalidInARow + 1;
      if (step.terminated) episode.endReason = 'terminated';
      else if (step.truncated) episode.endReason = 'step-limit';
      else if (limits.maxInvalidInARow !== null && invalidInARow >= limits.maxInvalidInARow) {
        episode.endReason = 'invalid-limit';
      }
    }
    return { episode, steps };
  } finally {
    const { episodeId } = episode;
    await closeAll(world.log, { episodeId }, { session: session.close(), conversation: actor?.end() });
  }
}

interface Moment {
  observation: Observation;
  history: Turn[];
  session: EnvironmentSession;
  actor: Actor;
  description: EnvironmentDescription;
  maxSteps: number;
}

/** Asks, acts, and adds to the episode's totals. Gives the reason instead where no step could be taken. */
async function oneStep(
  episode: Episode,
  moment: Moment,
  { clock }: EpisodeWorld,
  signal: AbortSignal,
): Promise<Step | EndReason> {
  const { observation, history, session, actor, description, maxSteps } = moment;
  const stepIndex = history.length;
  const askedAt = clock.now();
  const state = {
    instruction: episode.instruction,
    actionGuide: description.actionGuide,
    history,
    observation,
  };
  let decision: Decision | null;
  try {
    decision = await actor.decide(state, { stepIndex, session, signal });
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'MODEL_PROMPT_LIMIT') return 'token-limit';
    if (thrown instanceof AppError && thrown.code === 'MODEL_CONTEXT_FULL') return 'context-full';
    throw thrown;
  }
  if (decision === null) return 'policy-ended';
  const answeredAt = clock.now();
  const { answer, completion, tokens } = decision;
  const action = matchAdmissible(answer.action, observation.admissible) ?? answer.action;
  const outcome = await session.step(action, { signal });
  const now = clock.now();
  history.push({
    observation,
    answer: completion ?? `<action>${action}</action>`,
    action,
    parseStatus: answer.status,
    ...(tokens === null || tokens.completionTokens.length === 0 ? {} : { tokens: tokens.completionTokens }),
  });
  return recordStep(episode, {
    decision,
    action,
    outcome,
    truncated: !outcome.terminated && (outcome.truncated || stepIndex + 1 >= maxSteps),
    // Only who asks a model takes time to decide.
    modelMs: completion === null ? 0 : answeredAt - askedAt,
    environmentMs: now - answeredAt,
    createdAt: now,
  });
}

/** @param executed steps that the split's meter of real steps has not counted yet */
function finish({ episode, steps }: EpisodeResult, world: EpisodeWorld, executed: number): EpisodeResult {
  const { store, policy, clock } = world;
  const ended: Episode = {
    ...episode,
    status: episode.status === 'running' ? 'finished' : episode.status,
    // Success is a statement about the policy; a broken episode makes none.
    success: episode.status === 'running' && episode.success,
    finishedAt: clock.now(),
  };
  const write = (): void => {
    store.transaction(() => {
      if (policy.expensive && store.episodes.stored([ended.episodeId]).size > 0) store.episodes.finish(ended);
      else store.episodes.insertWhole(ended, steps);
      store.addRealSteps(ended.split, executed);
    });
  };
  if (world.commit === undefined) write();
  else world.commit(ended, steps, write);
  return { episode: ended, steps };
}

function stepLimit(limits: Limits, description: EnvironmentDescription): number {
  return Math.min(limits.maxSteps ?? description.maxSteps, description.maxSteps);
}

function draftEpisode(plan: EpisodePlan, world: EpisodeWorld): Episode {
  return newEpisode({
    ...plan,
    episodeId: planId(plan, world),
    description: world.provider.describe(),
    policy: world.policy,
    startedAt: world.clock.now(),
  });
}

/** The caller's abort is a cancellation, whatever it made the episode throw. */
function failureOf(thrown: unknown, caller: AbortSignal): AppError {
  if (caller.aborted) {
    return new AppError({
      code: 'CANCELLED',
      message: 'The episode was stopped. Its steps so far are kept, marked abandoned.',
      cause: thrown,
    });
  }
  return toAppError(thrown);
}
