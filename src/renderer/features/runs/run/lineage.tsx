import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Job } from '#shared/schema/job.ts';
import type { LineageStep, TrainRun } from '#shared/schema/training.ts';
import { orpc } from '../../../rpc/client.ts';
import { shortId } from '../../../ui/format.ts';
import { ErrorState } from '../../../ui/states.tsx';
import styles from './lineage.module.css';

/** The weights' way: the base, each adapter that came before with what it was taught, and this training. */
export function Lineage({ job, run }: { job: Job; run: TrainRun }) {
  const models = useQuery(orpc.models.list.queryOptions());
  const datasets = useQuery(orpc.datasets.list.queryOptions({ input: { limit: 200 } }));
  const before = useQuery({
    ...orpc.training.lineage.queryOptions({ input: { jobId: job.jobId } }),
    enabled: run.adapter !== null,
  });
  const base = models.data?.find(({ modelId, location }) => modelId === run.base || location === run.base);
  const taught = (recipe: string, dataset: TrainRun['dataset']) => (
    <>
      {recipe} on <Rows dataset={dataset} names={datasets.data?.items ?? []} />
    </>
  );
  return (
    <section className={styles.section} aria-label="Lineage">
      <h2>Lineage</h2>
      {before.isError && <ErrorState title="What came before could not be read" error={before.error} />}
      <ol className={styles.line}>
        <li>
          <span className={styles.kind}>base</span>
          {base === undefined ? run.base : <Link href={`/models/${base.modelId}`}>{base.name}</Link>}
        </li>
        {(before.data ?? []).map((step) => (
          <Before key={step.file} step={step} taught={taught} />
        ))}
        <li aria-current="step">
          <span className={styles.kind}>this training</span>
          {taught(run.recipe, run.dataset)}
        </li>
      </ol>
    </section>
  );
}

function Before({
  step: { file, exists, training },
  taught,
}: {
  step: LineageStep;
  taught: (recipe: string, dataset: TrainRun['dataset']) => ReactNode;
}) {
  return (
    <li title={file}>
      <span className={styles.kind}>adapter{exists ? '' : ' (its file is gone)'}</span>
      {training === null ? (
        <>{file.replace(/^.*[\\/]/, '')}: where it comes from is not known here</>
      ) : (
        <>
          <Link href={`/training/jobs/${encodeURIComponent(training.jobId)}`}>{training.title}</Link>
          {': '}
          {taught(training.recipe, training.dataset)}
        </>
      )}
    </li>
  );
}

function Rows({
  dataset,
  names,
}: {
  dataset: TrainRun['dataset'];
  names: readonly { datasetId: string; name: string }[];
}) {
  if ('folder' in dataset)
    return <span title={dataset.folder}>{dataset.folder.replace(/^.*[\\/](?=[^\\/]+$)/, '…/')}</span>;
  const { datasetId } = dataset;
  const name = names.find((one) => one.datasetId === datasetId)?.name ?? 'a data set';
  return (
    <Link href={`/datasets/${encodeURIComponent(datasetId)}`}>
      {name} · {shortId(datasetId)}
    </Link>
  );
}
