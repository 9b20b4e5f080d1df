/** Who acted, and which episode this is. Finished work has the same id again, so it is never rerun and never stored twice. */
import { episodeIdSchema } from '#shared/ids.ts';
import type { EnvironmentId, EpisodeId, Sha256, TaskId } from '#shared/ids.ts';
import type { EpisodePurpose, PolicyFacts } from '#shared/schema/episode.ts';
import { identityHash } from '#core/agents/hash.ts';

/** Everything that decides the policy's behaviour, and nothing else: a moved file has the same key. */
export function policyKeyOf(facts: PolicyFacts): string {
  const { modelId, ...behaviour } = facts;
  return identityHash('policy', { ...behaviour, modelId: facts.modelSha256 === null ? modelId : null });
}

export interface EpisodeIdentity {
  purpose: EpisodePurpose;
  environmentId: EnvironmentId;
  environmentVersion: string;
  dataChecksum: Sha256;
  taskId: TaskId;
  seed: number;
  policyKey: string;
  rolloutIndex: number;
  /** Limits of the loop: an episode cut at 10 steps is not the one cut at 50. */
  limits: { maxSteps: number; maxPromptTokens: number; maxInvalidInARow: number | null };
}

/** What is played from a list is numbered by the list: two lists for one task are two episodes, and the same list is one. */
export function rolloutIndexOf(...list: Parameters<typeof identityHash>): number {
  return Number.parseInt(identityHash(...list).slice(0, 7), 16);
}

export function episodeIdOf(identity: EpisodeIdentity): EpisodeId {
  return episodeIdSchema.parse(identityHash('episode', identity));
}
