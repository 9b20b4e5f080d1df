import { Link } from 'wouter';
import type { Episode } from '#shared/schema/episode.ts';
import { AdmissibleList } from '../../ui/viewer/admissible-list.tsx';
import type { StepSummary, StepView } from '../../ui/viewer/step-view.ts';
import { EpisodeFacts } from './episode-facts.tsx';
import { Fact, Section } from './fact.tsx';
import { StepFacts } from './step-facts.tsx';
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
      {step !== undefined && <StepFacts step={step} />}
      {view !== undefined && (
        <Section title="Admissible actions" count={view.admissible?.length}>
          <AdmissibleList actions={view.admissible} chosen={view.action} />
        </Section>
      )}
      <EpisodeFacts episode={episode} />
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
