import { Link } from 'wouter';
import type { Episode } from '#shared/schema/episode.ts';
import { formatDateTime, formatDuration, formatInteger } from '../../ui/format.ts';
import { Fact, Section } from './fact.tsx';
import { outcomeOf } from './outcome.ts';
import styles from './trajectories.module.css';

/** A server need not tell how long a prompt was; what it did not tell is not shown as none. */
function promptTokensOf({ promptTokens, evaluatedPromptTokens }: Episode): string {
  const evaluated = formatInteger(evaluatedPromptTokens);
  return promptTokens === 0
    ? `${evaluated} tokens evaluated`
    : `${formatInteger(promptTokens)} tokens, ${evaluated} evaluated`;
}

/** Who acted, where, with which weights, and what it cost. */
export function EpisodeFacts({ episode }: { episode: Episode }) {
  return (
    <Section title="Episode">
      <Fact name="Outcome">{outcomeOf(episode).label}</Fact>
      <Fact name="Policy">{episode.policyLabel}</Fact>
      <Fact name="Model" mono title={episode.policy.modelSha256 ?? undefined}>
        {episode.policy.modelSha256?.slice(0, 12) ?? episode.policy.kind}
      </Fact>
      {episode.policy.adapterSha256.map((hash) => (
        <Fact key={hash} name="Adapter" mono title={hash}>
          {hash.slice(0, 12)}
        </Fact>
      ))}
      {episode.policy.chatTemplateHash !== null && (
        <Fact name="Template" mono title={episode.policy.chatTemplateHash}>
          {episode.policy.chatTemplateHash.slice(0, 12)}
        </Fact>
      )}
      <Fact name="Seed">{`${String(episode.seed)}, rollout ${String(episode.rolloutIndex)}`}</Fact>
      <Fact name="World">{`${episode.environmentId} ${episode.environmentVersion}`}</Fact>
      <Fact name="Data" mono title={episode.dataChecksum}>
        {episode.dataChecksum.slice(0, 12)}
      </Fact>
      <Fact name="Task" mono title={episode.taskId}>
        <Link
          className={styles.clip}
          href={`/environments/${episode.environmentId}/play?task=${encodeURIComponent(episode.taskId)}`}
        >
          {episode.taskId}
        </Link>
      </Fact>
      <Fact name="Type">
        <span className={styles.clip} title={episode.taskType}>
          {episode.taskType}
        </span>
      </Fact>
      <Fact name="Split">{episode.split}</Fact>
      {(episode.promptTokens > 0 || episode.evaluatedPromptTokens > 0) && (
        <Fact name="Prompt">{promptTokensOf(episode)}</Fact>
      )}
      {episode.completionTokens > 0 && (
        <Fact name="Completion">{`${formatInteger(episode.completionTokens)} tokens`}</Fact>
      )}
      <Fact name="Time">{`model ${formatDuration(episode.modelMs)}, world ${formatDuration(episode.environmentMs)}`}</Fact>
      <Fact name="Started">{formatDateTime(episode.startedAt)}</Fact>
      {episode.attempt > 1 && (
        <Fact name="Attempt">{`${String(episode.attempt)}; the earlier ones are kept as abandoned`}</Fact>
      )}
      {episode.retries > 0 && (
        <Fact name="Retried">{`${String(episode.retries)} times after a failure`}</Fact>
      )}
      {episode.error !== null && (
        <p className={styles.error}>{`${episode.error.code}: ${episode.error.message}`}</p>
      )}
    </Section>
  );
}
