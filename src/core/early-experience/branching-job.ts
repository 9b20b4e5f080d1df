/**
 * Job kind `branching`: demonstrations → branches. Episodes in parallel, states of one episode in order (they share a session and
 * a KV prefix), one commit a state. What a state draws depends on (seed, episode, step, purpose) alone.
 */
import type { AppError } from '#shared/errors.ts';
import { isInfrastructureError, toAppError } from '#shared/errors.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { sentence } from '#shared/sentence.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';
import { observationHash } from '#core/environments/index.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { ChatModel } from '#core/llm/port.ts';
import type { CoreServices } from '#core/services.ts';
import { branchStateKey } from '#core/store/port.ts';
import {
  FailureStreak,
  closeAll,
  loadModel,
  observationBefore,
  promptSettings,
  runPool,
  tellingOfDeaths,
  withDeadline,
  withRetries,
} from '#core/agents/index.ts';
import type { StartingPoint } from '#core/early-experience/branch.ts';
import { executeBranches, replayStart, snapshotStart } from '#core/early-experience/branch.ts';
import type { BranchingTotals } from '#core/early-experience/branching-totals.ts';
import { addSampling, emptyTotals, reportTotals } from '#core/early-experience/branching-totals.ts';
import { toldCosts } from '#core/early-experience/call-costs.ts';
import { demonstrationsResult, readDemonstration } from '#core/early-experience/demonstrations-of.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import { expertStates, placeholderThought } from '#core/early-experience/expert-states.ts';
import { modelNeeds } from '#core/early-experience/model-needs.ts';
import type { Proposer } from '#core/early-experience/propose.ts';
import type { SamplingSite } from '#core/early-experience/plan-state.ts';
import { planState, sessionKey } from '#core/early-experience/plan-state.ts';
import type { BranchingSpec } from '#core/early-experience/spec.ts';
import { branchingSpecSchema } from '#core/early-experience/spec.ts';

export function createBranchingJob(services: CoreServices): JobDefinition<BranchingSpec, BranchingTotals> {
  return defineJob<BranchingSpec, BranchingTotals>({
    kind: 'branching',
    spec: branchingSpecSchema,
    slots: ['compute'],
    run: (context) => branch(context, services),
  });
}

interface Site extends SamplingSite {
  context: JobContext<BranchingSpec, BranchingTotals>;
  services: CoreServices;
  provider: EnvironmentProvider;
  rendering: { actionGuide: string; placeholderThought: string | null };
  /** Restore exact copies instead of replaying prefixes. */
  native: boolean;
  totals: BranchingTotals;
  total: number;
  /** States committed by this run of the job. */
  committed: Set<string>;
  lastError: AppError | null;
  streak: FailureStreak;
  /** Demonstrations that are walked now, each at one state. */
  inFlight: number;
}

async function branch(context: JobContext<BranchingSpec, BranchingTotals>, services: CoreServices) {
  const { run, demonstrationsJobId } = context.spec;
  const provider = services.environments.get(run.environment.id);
  const description = provider.describe();
  const { episodeIds, steps } = demonstrationsResult(services.store, demonstrationsJobId);
  const needsModel = wantsProposals(run);
  // A resumed job has counted before: its card must not fall back behind its curves.
  const done = context.resumeFrom?.states ?? 0;
  const enter = (phase: string): void => {
    context.progress({ done, total: steps, unit: 'states', phase });
  };
  if (needsModel) enter('Loading the model');
  const loaded = needsModel
    ? await loadModel(services.models, run.policy, {
        ...modelNeeds(run, episodeIds.length),
        threads: services.store.catalogue.settings().threads,
        signal: context.signal,
      })
    : null;
  try {
    // The first state may take minutes with a large model; that is not the loading.
    enter('Branching');
    const site: Site = {
      context,
      seed: context.seed,
      services,
      run,
      provider,
      proposer: proposerOf(loaded, run),
      totals: { ...emptyTotals(), ...context.resumeFrom, failedEpisodes: 0 },
      rendering: { actionGuide: description.actionGuide, placeholderThought: placeholderThought(run) },
      native: run.branching.execution === 'snapshot' && description.snapshot === 'native',
      // An action that the environment refused is no expert state; there are hardly any.
      total: steps,
      committed: new Set(),
      lastError: null,
      streak: new FailureStreak(),
      inFlight: 0,
    };
    if (site.proposer !== null) {
      const { format, model } = site.proposer.model.info;
      site.totals.format = format;
      site.totals.modelId = model.modelId;
    }
    const doneStates = services.store.branches.doneStates(context.jobId);
    const pool = {
      parallel: run.parallel,
      signal: context.signal,
      shouldStop: () => context.pauseRequested,
      onActive: (active: number) => {
        site.inFlight = active;
      },
    };
    await tellingOfDeaths(context, services.models, () =>
      runPool(episodeIds, pool, (episodeId, signal) =>
        branchEpisode(readDemonstration(services.store, episodeId), site, doneStates, signal),
      ),
    );
    context.pausePoint();
    if (site.lastError !== null && site.totals.failedEpisodes === episodeIds.length) throw site.lastError;
    const costs = toldCosts(site.totals, site.totals.modelCalls > 0);
    return { ...site.totals, ...costs, ...services.store.branches.summary(context.jobId) };
  } finally {
    await loaded?.release();
  }
}

async function branchEpisode(
  demonstration: Demonstration,
  site: Site,
  done: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const { episode } = demonstration;
  const { run, totals, context } = site;
  const attempt = (): Promise<void> => {
    // Asked again on a retry: states committed before the failure are done.
    const states = expertStates(demonstration, site.rendering).filter(({ stepIndex }) => {
      const key = branchStateKey('expert', episode.episodeId, stepIndex);
      return !done.has(key) && !site.committed.has(key);
    });
    return states.length === 0 ? Promise.resolve() : walk(demonstration, states, site, signal);
  };
  try {
    await withRetries(attempt, {
      retries: run.limits.retries,
      signal,
      onRetry: ({ code, message }) => {
        context.emit({
          type: 'branching-restarted',
          level: 'warn',
          message: `Demonstration of task ${episode.taskId}: ${code} broke the branching off. Its finished states are kept; the others are branched again.`,
          data: { episodeId: episode.episodeId, code, reason: message },
        });
      },
    });
    site.streak.succeeded();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (signal.aborted || !isInfrastructureError(error.code) || error.code === 'DISK_FULL') throw thrown;
    totals.failedEpisodes += 1;
    site.lastError = error;
    context.emit({
      type: 'branching-failed',
      level: 'error',
      message: `Demonstration of task ${episode.taskId}: ${sentence(error.message)} Its finished states are kept; the rest is missing from the set.`,
      data: { episodeId: episode.episodeId, code: error.code },
    });
    site.streak.failed(error);
  }
}

/** The expert's path once, with a stop at every waiting state. In `replay` each branch makes its own way instead. */
async function walk(
  demonstration: Demonstration,
  waiting: readonly ExpertState[],
  site: Site,
  signal: AbortSignal,
): Promise<void> {
  const { episode, steps } = demonstration;
  const session = await site.provider.open({ taskId: episode.taskId, seed: episode.seed, signal });
  let walked = 0;
  try {
    if (!site.native) {
      for (const state of waiting) {
        if (site.context.pauseRequested) return;
        await branchState(demonstration, state, replayStart(session, state), session, site, signal);
      }
      return;
    }
    let at = 0;
    let shown = observationHash(await session.reset({ signal }));
    for (const state of waiting) {
      if (site.context.pauseRequested) return;
      // A walk that has lost the demonstration's way goes no further: its branches are rejected where it stands.
      while (at < state.stepIndex && shown === hashBefore(demonstration, at)) {
        const outcome = await session.step(steps[at]?.action ?? '', { signal });
        shown = observationHash(outcome.observation);
        at += 1;
        walked += 1;
        site.totals.realSteps += 1;
      }
      const snapshot = await session.snapshot();
      await branchState(
        demonstration,
        state,
        snapshotStart(session, snapshot),
        session,
        site,
        signal,
        walked,
      );
      walked = 0;
      await session.restore(snapshot);
    }
  } finally {
    const { episodeId } = episode;
    await closeAll(
      site.services.log,
      { episodeId },
      {
        session: session.close(),
        conversation: site.proposer?.model.endSession(sessionKey(episodeId)),
      },
    );
    // The way to a state that broke off was walked all the same.
    if (walked > 0) site.services.store.addRealSteps(episode.split, walked);
  }
}

function hashBefore({ episode, steps }: Demonstration, stepIndex: number): Sha256 {
  return observationHash(observationBefore(episode, steps, stepIndex));
}

async function branchState(
  demonstration: Demonstration,
  state: ExpertState,
  start: StartingPoint,
  session: EnvironmentSession,
  site: Site,
  signal: AbortSignal,
  /** Steps since the state before; they are metered with this one, in one write. */
  walked = 0,
): Promise<void> {
  const { context, services, totals } = site;
  const what = `Branching at step ${String(state.stepIndex)}`;
  const { sampled, branches, realSteps } = await withDeadline(
    { what, ms: site.run.limits.episodeTimeoutMs, signal },
    async (timed) => {
      const { planned, sampled } = await planState(demonstration, state, site, timed);
      const executed = await executeBranches(demonstration, state, planned, start, session, {
        jobId: context.jobId,
        clock: services.clock,
        signal: timed,
      });
      return { sampled, ...executed };
    },
  );
  totals.states += 1;
  totals.realSteps += realSteps;
  addSampling(totals, sampled);
  for (const rejected of branches.filter(({ status }) => status === 'rejected')) {
    context.emit({
      type: 'branch-rejected',
      level: 'warn',
      message: `Step ${String(rejected.stepIndex)}, “${rejected.action}”: ${rejected.rejectReason ?? ''}`,
      data: { episodeId: rejected.episodeId, stepIndex: rejected.stepIndex, branchId: rejected.branchId },
    });
  }
  reportTotals(context, totals, branches);
  context.commitStep({ ...totals }, () => {
    services.store.branches.insert(branches);
    services.store.addRealSteps(demonstration.episode.split, walked + realSteps);
  });
  site.committed.add(branchStateKey('expert', demonstration.episode.episodeId, state.stepIndex));
  const { total, inFlight } = site;
  context.progress({ done: totals.states, total, unit: 'states', inFlight, phase: 'Branching' });
}

function wantsProposals({ branching: { iwm, sr } }: EarlyExperienceRun): boolean {
  return (iwm.enabled && iwm.sampler === 'policy') || (sr.enabled && sr.sampler === 'policy');
}

function proposerOf(loaded: { model: ChatModel } | null, run: EarlyExperienceRun): Proposer | null {
  if (loaded === null) return null;
  const { model } = loaded;
  return { model, policy: run.policy, settings: promptSettings(run.policy, model.info.format) };
}
