/**
 * Job kind `branching`: demonstrations → branches. Episodes in parallel, states of one episode in order (they share a session and
 * a KV prefix), one commit a state. What a state draws depends on (seed, episode, step, purpose) alone.
 */
import type { AppError } from '#shared/errors.ts';
import { isInfrastructureError, toAppError } from '#shared/errors.ts';
import type { EpisodeId, Sha256 } from '#shared/ids.ts';
import type { Branch } from '#shared/schema/branch.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';
import { observationHash } from '#core/environments/index.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { CoreServices } from '#core/services.ts';
import { branchStateKey } from '#core/store/port.ts';
import type { LoadedPolicy } from '#core/agents/index.ts';
import {
  loadPolicy,
  observationBefore,
  promptSettings,
  randomOf,
  runPool,
  seedOf,
  withRetries,
} from '#core/agents/index.ts';
import type { PlannedBranch, StartingPoint } from '#core/early-experience/branch.ts';
import { executeBranches, replayStart, snapshotStart } from '#core/early-experience/branch.ts';
import type { BranchingTotals } from '#core/early-experience/branching-totals.ts';
import { addDropped, emptyTotals, reportTotals } from '#core/early-experience/branching-totals.ts';
import { demonstrationsOf } from '#core/early-experience/demonstrations-of.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import { expertStates, placeholderThought } from '#core/early-experience/expert-states.ts';
import type { Proposer } from '#core/early-experience/propose.ts';
import { proposeActions } from '#core/early-experience/propose.ts';
import type { AlternativeSet } from '#core/early-experience/sampling.ts';
import { proposedAlternatives, uniformAlternatives } from '#core/early-experience/sampling.ts';
import type { BranchingSpec } from '#core/early-experience/spec.ts';
import { branchingSpecSchema } from '#core/early-experience/spec.ts';

/** Proposals beyond K for an IWM set that comes from the policy; SR has its own setting. */
const IWM_EXTRA = 2;

export function createBranchingJob(services: CoreServices): JobDefinition<BranchingSpec, BranchingTotals> {
  return defineJob<BranchingSpec, BranchingTotals>({
    kind: 'branching',
    spec: branchingSpecSchema,
    slots: ['compute'],
    run: (context) => branch(context, services),
  });
}

interface Site {
  context: JobContext<BranchingSpec, BranchingTotals>;
  services: CoreServices;
  run: EarlyExperienceRun;
  provider: EnvironmentProvider;
  proposer: Proposer | null;
  rendering: { actionGuide: string; placeholderThought: string | null };
  /** Restore exact copies instead of replaying prefixes. */
  native: boolean;
  totals: BranchingTotals;
  total: number;
  /** States committed by this run of the job. */
  committed: Set<string>;
  lastError: AppError | null;
}

async function branch(context: JobContext<BranchingSpec, BranchingTotals>, services: CoreServices) {
  const { run, demonstrationsJobId } = context.spec;
  const provider = services.environments.get(run.environment.id);
  const description = provider.describe();
  const demonstrations = demonstrationsOf(services.store, demonstrationsJobId);
  const needsModel = wantsProposals(run);
  context.progress({
    done: 0,
    total: null,
    unit: 'states',
    phase: needsModel ? 'Loading the model' : 'Branching',
  });
  const loaded = needsModel
    ? await loadPolicy(services.models, run.policy, {
        limits: run.limits,
        parallel: Math.min(run.parallel * samplesAtOnce(run), 64),
        threads: services.store.catalogue.settings().threads,
        signal: context.signal,
      })
    : null;
  try {
    const site: Site = {
      context,
      services,
      run,
      provider,
      proposer: proposerOf(loaded, run),
      totals: { ...emptyTotals(), ...context.resumeFrom },
      rendering: { actionGuide: description.actionGuide, placeholderThought: placeholderThought(run) },
      native: run.branching.execution === 'snapshot' && description.snapshot === 'native',
      total: demonstrations.reduce((sum, { steps }) => sum + steps.filter((step) => step.valid).length, 0),
      committed: new Set(),
      lastError: null,
    };
    if (site.proposer !== null) site.totals.format = site.proposer.model.info.format;
    const done = services.store.branches.doneStates(context.jobId);
    await runPool(
      demonstrations,
      { parallel: run.parallel, signal: context.signal, shouldStop: () => context.pauseRequested },
      (demonstration, signal) => branchEpisode(demonstration, site, done, signal),
    );
    context.pausePoint();
    if (site.lastError !== null && site.totals.failedEpisodes === demonstrations.length) throw site.lastError;
    return { ...site.totals, ...services.store.branches.summary(context.jobId) };
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
    // Read again on a retry: states committed before the failure are done.
    const finished = new Set([...done, ...site.committed]);
    const states = expertStates(demonstration, site.rendering).filter(
      ({ stepIndex }) => !finished.has(branchStateKey('expert', episode.episodeId, stepIndex)),
    );
    return states.length === 0 ? Promise.resolve() : walk(demonstration, states, site, signal);
  };
  try {
    await withRetries(attempt, { retries: run.limits.retries, signal });
  } catch (thrown) {
    const error = toAppError(thrown);
    if (signal.aborted || !isInfrastructureError(error.code) || error.code === 'DISK_FULL') throw thrown;
    totals.failedEpisodes += 1;
    site.lastError = error;
    context.emit({
      type: 'branching-failed',
      level: 'error',
      message: `Demonstration of task ${episode.taskId}: ${error.message} Its finished states are kept; the rest is missing from the set.`,
      data: { episodeId: episode.episodeId, code: error.code },
    });
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
        site.services.store.addRealSteps(episode.split, 1);
        site.totals.realSteps += 1;
      }
      const snapshot = await session.snapshot();
      await branchState(demonstration, state, snapshotStart(session, snapshot), session, site, signal);
      await session.restore(snapshot);
    }
  } finally {
    await Promise.allSettled([
      session.close(),
      site.proposer?.model.endSession(sessionKey(episode.episodeId)),
    ]);
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
): Promise<void> {
  const { context, services, totals } = site;
  const planned = await planState(demonstration, state, site, signal);
  const { branches, realSteps } = await executeBranches(demonstration, state, planned, start, session, {
    jobId: context.jobId,
    clock: services.clock,
    signal,
  });
  totals.states += 1;
  totals.realSteps += realSteps;
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
    services.store.addRealSteps(demonstration.episode.split, realSteps);
  });
  site.committed.add(branchStateKey('expert', demonstration.episode.episodeId, state.stepIndex));
  context.progress({ done: totals.states, total: site.total, unit: 'states', phase: 'Branching' });
}

/** The expert's action first, then A_i for each method: what will be executed from s_i. */
async function planState(
  demonstration: Demonstration,
  state: ExpertState,
  site: Site,
  signal: AbortSignal,
): Promise<PlannedBranch[]> {
  const { iwm, sr } = site.run.branching;
  const planned: PlannedBranch[] = [
    {
      purpose: 'expert',
      alternativeIndex: 0,
      alternative: { action: state.expertAction, source: 'expert', proposal: null },
      proposal: null,
    },
  ];
  if (iwm.enabled) {
    const rules = { unique: true, refill: 'constant-k' as const, keepInadmissible: true, extra: IWM_EXTRA };
    planned.push(...(await sample('iwm', { ...iwm, ...rules }, demonstration, state, site, signal)));
  }
  if (sr.enabled) {
    const extra = sr.proposals === 'one-request' ? sr.extra : 0;
    const rules = { unique: sr.unique, refill: sr.refill, keepInadmissible: false, extra };
    planned.push(...(await sample('sr', { ...sr, ...rules }, demonstration, state, site, signal)));
  }
  return planned;
}

interface SampleRules {
  sampler: 'uniform' | 'policy';
  k: number;
  temperature: number;
  extra: number;
  unique: boolean;
  refill: 'constant-k' | 'inadmissible-only';
  keepInadmissible: boolean;
}

async function sample(
  purpose: 'iwm' | 'sr',
  rules: SampleRules,
  { episode }: Demonstration,
  state: ExpertState,
  site: Site,
  signal: AbortSignal,
): Promise<PlannedBranch[]> {
  const { admissible } = state.state.observation;
  const random = randomOf(site.context.seed, episode.episodeId, state.stepIndex, purpose);
  let set: AlternativeSet;
  let proposalOf = (_index: number): Branch['proposal'] => null;
  if (rules.sampler === 'uniform' || site.proposer === null) {
    set = uniformAlternatives(admissible ?? [], state.expertAction, rules.k, random);
  } else {
    const { proposer } = site;
    const made = await proposeActions(proposer, state.state, {
      n: rules.k + rules.extra,
      temperature: rules.temperature,
      seed: seedOf(site.context.seed, episode.episodeId, state.stepIndex, purpose, 'proposals'),
      sessionKey: sessionKey(episode.episodeId),
      signal,
    });
    const actions = made.proposals.map(({ action }) => action);
    set = proposedAlternatives(actions, admissible, state.expertAction, rules, random);
    site.totals.modelCalls += 1;
    site.totals.promptCharacters += made.promptCharacters;
    site.totals.promptTokens += made.promptTokens;
    site.totals.evaluatedPromptTokens += made.evaluatedPromptTokens;
    site.totals.completionTokens += made.completionTokens;
    proposalOf = (index) => {
      const proposal = made.proposals[index];
      if (proposal === undefined) return null;
      return {
        modelId: proposer.model.info.model.modelId,
        raw: proposal.text,
        completionTokens: [...proposal.tokens],
        logprobs: [...proposal.logprobs],
        temperature: rules.temperature,
      };
    };
  }
  addDropped(site.totals, set);
  return set.alternatives.map((alternative, alternativeIndex) => ({
    purpose,
    alternativeIndex,
    alternative,
    proposal: alternative.proposal === null ? null : proposalOf(alternative.proposal),
  }));
}

function wantsProposals({ branching: { iwm, sr }, policy }: EarlyExperienceRun): boolean {
  if (policy.model.startsWith('scripted:')) return false;
  return (iwm.enabled && iwm.sampler === 'policy') || (sr.enabled && sr.sampler === 'policy');
}

function samplesAtOnce({ branching: { iwm, sr } }: EarlyExperienceRun): number {
  const wanted = [
    iwm.enabled && iwm.sampler === 'policy' ? iwm.k + IWM_EXTRA : 0,
    sr.enabled && sr.sampler === 'policy' ? sr.k + sr.extra : 0,
  ];
  return Math.max(1, ...wanted);
}

function proposerOf(loaded: LoadedPolicy | null, run: EarlyExperienceRun): Proposer | null {
  const model = loaded?.model ?? null;
  if (model === null) return null;
  return { model, policy: run.policy, settings: promptSettings(run.policy, model.info.format) };
}

const sessionKey = (episodeId: EpisodeId): string => `branch:${episodeId}`;
