import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Episode } from '#shared/schema/episode.ts';
import { AdmissibleList } from '../../ui/viewer/admissible-list.tsx';
import type { StepSummary, StepView } from '../../ui/viewer/step-view.ts';
import { formatDateTime, formatDuration, formatInteger } from '../../ui/format.ts';
import { outcomeOf } from './outcome.ts';
import styles from './trajectories.module.css';

/** Right pane: what decided this step, what was allowed, and where the step went. */
export function FactsPane({
  episode,
  view,
  step,
  datasets,
}: {
  episode: Episode;
  view: StepView | undefined;
  step: StepSummary | undefined;
  datasets: readonly { datasetId: string; name: string }[];
}) {
  return (
    <div className={styles.facts}>
      {step !== undefined && (
        <Section title={`Step ${String(step.stepIndex)}`}>
          <Fact name="Reward">{step.reward}</Fact>
          <Fact name="Parsed">{step.parseStatus === 'ok' ? 'yes' : step.parseStatus.replace('-', ' ')}</Fact>
          {step.completionTokens > 0 && (
            <Fact name="Sampled">{`${formatInteger(step.completionTokens)} tokens`}</Fact>
          )}
          {step.modelMs > 0 && <Fact name="Model">{formatDuration(step.modelMs)}</Fact>}
          <Fact name="Environment">
            {step.environmentMs === 0 ? '< 1 ms' : formatDuration(step.environmentMs)}
          </Fact>
          <Fact name="State hash" mono title={step.observationHash}>
            {step.observationHash.slice(0, 12)}
          </Fact>
          {step.error !== null && (
            <p className={styles.error}>{`${step.error.code}: ${step.error.message}`}</p>
          )}
        </Section>
      )}
      {view !== undefined && (
        <Section title="Admissible actions" count={view.admissible?.length}>
          <AdmissibleList actions={view.admissible} chosen={view.action} />
        </Section>
      )}
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
        {episode.completionTokens > 0 && (
          <>
            <Fact name="Prompt">{`${formatInteger(episode.promptTokens)} tokens, ${formatInteger(episode.evaluatedPromptTokens)} evaluated`}</Fact>
            <Fact name="Completion">{`${formatInteger(episode.completionTokens)} tokens`}</Fact>
          </>
        )}
        <Fact name="Time">{`model ${formatDuration(episode.modelMs)}, world ${formatDuration(episode.environmentMs)}`}</Fact>
        <Fact name="Started">{formatDateTime(episode.startedAt)}</Fact>
        {episode.retries > 0 && (
          <Fact name="Retried">{`${String(episode.retries)} times after a failure`}</Fact>
        )}
        {episode.error !== null && (
          <p className={styles.error}>{`${episode.error.code}: ${episode.error.message}`}</p>
        )}
      </Section>
      {hasSettings(episode.policy.settings) && (
        <Section title="Sampler and prompt">
          <Settings value={episode.policy.settings} />
        </Section>
      )}
      <Section title="Lineage">
        {episode.jobId !== null && (
          <Fact name="Run" mono>
            <Link href={`/runs/${episode.jobId}`}>{episode.jobId}</Link>
          </Fact>
        )}
        {datasets.map((dataset) => (
          <Fact key={dataset.datasetId} name="Data set">
            <Link href={`/datasets/${dataset.datasetId}`}>{dataset.name}</Link>
          </Fact>
        ))}
        {datasets.length === 0 && <p className={styles.dim}>In no data set yet.</p>}
      </Section>
    </div>
  );
}

function Section({
  title,
  count,
  children,
}: {
  title: string;
  count?: number | undefined;
  children: ReactNode;
}) {
  return (
    <section className={styles.factSection}>
      <h3>
        {title}
        {count !== undefined && <span className={styles.dim}>{` ${String(count)}`}</span>}
      </h3>
      {children}
    </section>
  );
}

function Fact({
  name,
  title,
  mono = false,
  children,
}: {
  name: string;
  title?: string | undefined;
  mono?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={styles.fact}>
      <span className={styles.factName}>{name}</span>
      <span className={mono ? styles.factMono : styles.factValue} title={title}>
        {children}
      </span>
    </div>
  );
}

/** The policy's settings as they are stored, one leaf a line. */
function Settings({ value }: { value: unknown }) {
  return leaves(value).map(([path, leaf]) => (
    <Fact key={path} name={path}>
      {leaf}
    </Fact>
  ));
}

function hasSettings(value: unknown): boolean {
  return leaves(value).length > 0;
}

export function leaves(value: unknown, path = ''): [string, string][] {
  if (value === null || typeof value !== 'object') return path === '' ? [] : [[path, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`));
}
