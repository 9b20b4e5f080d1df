/**
 * D_expert (section 3): where demonstrations come from, and the proof that they succeed. Each one is executed again in a fresh
 * session and kept only where every observation agrees and the task is solved.
 */
import { AppError } from '#shared/errors.ts';
import type { EnvironmentProvider } from '#core/environments/port.ts';
import { observationHash } from '#core/environments/index.ts';
import type { Logger } from '#core/ports.ts';
import type { AgentPolicy } from '#core/agents/index.ts';
import { closeAll, observationBefore, plainDecision, plainFacts } from '#core/agents/index.ts';
import type { Demonstration } from '#core/early-experience/expert-states.ts';
import type { ImportedDemonstration } from '#core/early-experience/import-demonstrations.ts';

export type Proof = { ok: true; realSteps: number } | { ok: false; realSteps: number; reason: string };

/** Success is a fact of the environment, not of the file: replays the actions and compares each observation. */
export async function proveDemonstration(
  provider: EnvironmentProvider,
  { episode, steps }: Demonstration,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<Proof> {
  if (!episode.success || steps.at(-1)?.terminated !== true) {
    return { ok: false, realSteps: 0, reason: `the task was not solved in ${String(steps.length)} steps` };
  }
  const session = await provider.open({ taskId: episode.taskId, seed: episode.seed, signal });
  try {
    const first = await session.reset({ signal });
    if (observationHash(first) !== observationHash(observationBefore(episode, steps, 0))) {
      return { ok: false, realSteps: 0, reason: 'the task begins differently now' };
    }
    await session.replayTo(
      steps.map((step) => step.action),
      { expected: steps.map((step) => step.observationHash), signal },
    );
    return { ok: true, realSteps: steps.length };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'BRANCH_DESYNC') throw thrown;
    return { ok: false, realSteps: steps.length, reason: `replayed, it goes another way: ${thrown.message}` };
  } finally {
    await closeAll(log, { episodeId: episode.episodeId }, { session: session.close() });
  }
}

/**
 * Plays a fixed list of actions, so that an import becomes an episode like any other. It ends with the list: an import that did
 * not solve the task is no demonstration, however good its beginning.
 */
export function importedPolicy({ actions, thoughts }: ImportedDemonstration): AgentPolicy {
  return {
    label: 'imported',
    expensive: false,
    // All lists are one policy; which list it was is the rollout's number.
    facts: plainFacts('imported'),
    actor: () => ({
      decide(_state, { stepIndex }) {
        const action = actions[stepIndex];
        if (action === undefined) return Promise.resolve(null);
        return Promise.resolve(plainDecision(action, thoughts[stepIndex]));
      },
      end: () => Promise.resolve(),
    }),
  };
}
