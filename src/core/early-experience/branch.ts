/**
 * Real one-step branching (section 4.1): from every expert state s_i, each alternative a_i^j is executed in the environment,
 * s_i^j ~ T(s_i, a_i^j), and the triple (s_i, a_i^j, s_i^j) of Eq. 2 is kept. Nothing is rolled out further.
 *
 * The invariant: a branch acts only after it has proved that it stands in s_i — what the environment shows then hashes to what
 * the demonstration saw. Where it does not, nothing is executed and the branch is stored as `rejected`, counted, never used.
 * (A re-implementation without this check once ran 98 % of its alternatives in other games.)
 *
 * `snapshot` walks the expert's path once and restores each state from an exact copy; `replay` re-executes the prefix for
 * every branch. An invalid action is an outcome, not a failure: its error text is signal.
 */
import type { ErrorRecord } from '#shared/errors.ts';
import { AppError, isInfrastructureError, toAppError } from '#shared/errors.ts';
import { branchIdSchema, sha256Schema } from '#shared/ids.ts';
import type { JobId, Sha256 } from '#shared/ids.ts';
import type { Branch, BranchPurpose } from '#shared/schema/branch.ts';
import type { StepOutcome } from '#shared/schema/environment.ts';
import type { Clock } from '#core/ports.ts';
import type { EnvironmentSession, Snapshot } from '#core/environments/port.ts';
import { observationHash } from '#core/environments/index.ts';
import { canonicalAction, identityHash, matchAdmissible } from '#core/agents/index.ts';
import type { Demonstration, ExpertState } from '#core/early-experience/expert-states.ts';
import type { Alternative } from '#core/early-experience/sampling.ts';

export interface PlannedBranch {
  purpose: BranchPurpose;
  alternativeIndex: number;
  alternative: Alternative;
  proposal: Branch['proposal'];
}

export interface StateBranches {
  branches: Branch[];
  /** Environment steps really executed, prefixes included. */
  realSteps: number;
}

/** Puts the world into s_i, as often as asked, and says what it shows there. */
export interface StartingPoint {
  readonly method: 'snapshot' | 'replay';
  /** Hash of what is shown now, and the steps that it took to get there. */
  enter(signal: AbortSignal): Promise<{ hash: Sha256; steps: number }>;
}

export function snapshotStart(session: EnvironmentSession, snapshot: Snapshot): StartingPoint {
  return {
    method: 'snapshot',
    async enter() {
      return { hash: observationHash(await session.restore(snapshot)), steps: 0 };
    },
  };
}

export function replayStart(session: EnvironmentSession, state: ExpertState): StartingPoint {
  return {
    method: 'replay',
    async enter(signal) {
      const { prefix, prefixHashes } = state;
      try {
        const proof = await session.replayTo(prefix, { expected: prefixHashes, signal });
        return { hash: observationHash(proof.observation), steps: prefix.length };
      } catch (thrown) {
        if (!(thrown instanceof AppError) || thrown.code !== 'BRANCH_DESYNC') throw thrown;
        const observed = sha256Schema.safeParse(thrown.data.observed);
        // Where the environment does not say what it saw, the hash of nothing stands for it: it equals no state.
        return { hash: observed.success ? observed.data : NO_STATE, steps: prefix.length };
      }
    },
  };
}

const LED_ELSEWHERE = 'The expert’s action led elsewhere than in the demonstration.';
const UNTRUSTED_STATE =
  'In this state the expert’s action led elsewhere than in the demonstration; nothing was executed.';
const NO_STATE = sha256Schema.parse('0'.repeat(64));

export async function executeBranches(
  demonstration: Demonstration,
  state: ExpertState,
  planned: readonly PlannedBranch[],
  start: StartingPoint,
  session: EnvironmentSession,
  options: { jobId: JobId; clock: Clock; signal: AbortSignal },
): Promise<StateBranches> {
  const branches: Branch[] = [];
  let realSteps = 0;
  // The expert's own action comes first: where it leads elsewhere, the state only looked like s_i, and nothing is branched from it.
  let trusted = true;
  for (const plan of planned) {
    options.signal.throwIfAborted();
    const entered = await start.enter(options.signal);
    realSteps += entered.steps;
    const proved = trusted && entered.hash === state.hash;
    const outcome = proved ? await act(session, plan.alternative.action, options.signal) : null;
    if (outcome !== null) realSteps += 1;
    const made = branchRow(demonstration, state, plan, start.method, entered.hash, outcome, options);
    if (plan.purpose === 'expert' && made.rejectReason === LED_ELSEWHERE) trusted = false;
    branches.push(trusted || plan.purpose === 'expert' ? made : { ...made, rejectReason: UNTRUSTED_STATE });
  }
  return { branches, realSteps };
}

/** An environment that breaks on this one action loses this branch, not the state. */
async function act(
  session: EnvironmentSession,
  action: string,
  signal: AbortSignal,
): Promise<StepOutcome | ErrorRecord> {
  try {
    return await session.step(action, { signal });
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toAppError(thrown);
    if (!isInfrastructureError(error.code)) throw error;
    return error.toRecord();
  }
}

function branchRow(
  { episode }: Demonstration,
  state: ExpertState,
  { purpose, alternativeIndex, alternative, proposal }: PlannedBranch,
  method: StartingPoint['method'],
  observedHash: Sha256,
  result: StepOutcome | ErrorRecord | null,
  { jobId, clock }: { jobId: JobId; clock: Clock },
): Branch {
  const canonical = canonicalAction(alternative.action);
  const outcome = result !== null && 'observation' in result ? result : null;
  const error = result !== null && 'code' in result ? result : null;
  const wrongOutcome =
    purpose === 'expert' &&
    outcome !== null &&
    observationHash(outcome.observation) !== state.outcome.observationHash;
  const rejectReason =
    result === null
      ? 'The state before the action differs from the demonstration’s; nothing was executed.'
      : error !== null
        ? `The environment failed: ${error.message}`
        : wrongOutcome
          ? LED_ELSEWHERE
          : null;
  return {
    branchId: branchIdSchema.parse(
      identityHash('branch', jobId, episode.episodeId, state.stepIndex, purpose, alternativeIndex, canonical),
    ),
    episodeId: episode.episodeId,
    stepIndex: state.stepIndex,
    jobId,
    purpose,
    source: alternative.source,
    alternativeIndex,
    action: alternative.action,
    canonicalAction: canonical,
    admissible: matchAdmissible(alternative.action, state.state.observation.admissible) !== null,
    valid: outcome?.valid ?? false,
    observation: outcome?.observation.text ?? '',
    sameAsExpert: outcome !== null && outcome.observation.text === state.outcome.observation,
    reward: outcome?.reward ?? 0,
    terminated: outcome?.terminated ?? false,
    truncated: outcome?.truncated ?? false,
    success: outcome?.success ?? false,
    status: rejectReason === null ? 'accepted' : 'rejected',
    rejectReason,
    proof: { method, expectedHash: state.hash, observedHash, prefixLength: state.prefix.length },
    proposal,
    error,
    createdAt: clock.now(),
  };
}
