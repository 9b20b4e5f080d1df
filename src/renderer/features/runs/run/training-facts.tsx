import { Button, CopyButton } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { datasetIdSchema } from '#shared/ids.ts';
import type { Job, JobEvent } from '#shared/schema/job.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import { loraAlpha, trainRunSchema } from '#shared/schema/training.ts';
import { orpc } from '../../../rpc/client.ts';
import { formatCompact, formatInteger, formatNumber, formatPercent, shortId } from '../../../ui/format.ts';
import { Facts, Stat, Time } from '../../../ui/text.tsx';
import { Lineage } from './lineage.tsx';
import {
  continueHref,
  lastCheckpoint,
  lastOf,
  mergeHref,
  policyHref,
  trainingResult,
} from './training-result.ts';
import type { TrainingResult } from './training-result.ts';
import { useMetrics } from './use-metrics.ts';
import styles from './run.module.css';

/** A training's budget while it runs, and its result with where it comes from. */
export function TrainingFacts({
  job,
  events,
  live,
}: {
  job: Job;
  events: readonly JobEvent[];
  live: boolean;
}) {
  const [metrics] = useMetrics([job], live);
  const points = metrics?.data ?? [];
  const run = trainRunSchema.safeParse(job.spec).data;
  const result = trainingResult(job);
  const checkpoint = lastCheckpoint(events);
  const updates = job.progress?.unit === 'updates' ? job.progress : null;
  const rowTokens = result?.trainedTokens ?? lastOf(points, 'rowTokens');
  const rate = lastOf(points, 'rowTokensPerSecond');
  const computed = lastOf(points, 'computedTokensPerSecond');
  return (
    <>
      <section className={styles.section} aria-label="Budget">
        <div className={styles.head}>
          <Stat
            label="Updates"
            value={
              updates === null
                ? '–'
                : `${formatInteger(updates.done)}${updates.total === null ? '' : ` / ${formatInteger(updates.total)}`}`
            }
          />
          <Stat
            label="Row tokens"
            value={rowTokens === null ? '–' : formatCompact(rowTokens)}
            title={
              rowTokens === null
                ? undefined
                : `${formatInteger(rowTokens)} tokens of the rows, each time they were seen`
            }
          />
          <Stat label="Speed" value={rate === null ? '–' : `${formatCompact(rate)} row tokens/s`} />
          <Stat
            label="Computed"
            value={rate === null || computed === null ? '–' : formatPercent(computed, rate)}
            unit={rate === null || computed === null ? undefined : 'of them'}
            title="Rows share the computation of what they begin with; the rest is what was computed."
          />
          <Stat
            label="Checkpoint"
            value={
              checkpoint === null ? (
                'none yet'
              ) : (
                <>
                  update {formatInteger(checkpoint.update)}, <Time at={checkpoint.at} />
                </>
              )
            }
          />
        </div>
      </section>
      {run !== undefined && <Lineage job={job} run={run} />}
      {result !== null && run !== undefined && <Result job={job} run={run} result={result} />}
    </>
  );
}

function Result({ job, run, result }: { job: Job; run: TrainRun; result: TrainingResult }) {
  const models = useQuery(orpc.models.list.queryOptions());
  const base = models.data?.find(({ modelId }) => modelId === result.baseModelId);
  const dataset = useQuery({
    ...orpc.datasets.get.queryOptions({
      input: { datasetId: 'datasetId' in run.dataset ? run.dataset.datasetId : datasetIdSchema.parse('-') },
    }),
    enabled: 'datasetId' in run.dataset,
    retry: false,
  });
  const { weights } = run;
  const facts: [ReactNode, ReactNode][] = [
    [
      result.kind === 'adapter' ? 'Adapter' : 'Model',
      <span key="file" className={styles.message}>
        {result.file}
      </span>,
    ],
    [
      'Base model',
      `${base?.name ?? result.baseModelId}${result.baseSha256 === null ? '' : ` · ${result.baseSha256.slice(0, 12)}`}`,
    ],
    [
      'Data set',
      'datasetId' in run.dataset ? (
        <Link key="data" href={`/datasets/${encodeURIComponent(run.dataset.datasetId)}`}>
          {dataset.data === undefined ? '' : `${dataset.data.name} · `}
          {shortId(run.dataset.datasetId)}
        </Link>
      ) : (
        <span key="data" className={styles.message}>
          {run.dataset.folder}
        </span>
      ),
    ],
    [
      'Recipe',
      `${result.recipe}: ${result.stages
        .map(
          ({ name, rows, updates }) =>
            `${name} ${formatInteger(rows)} rows, ${formatInteger(updates)} updates`,
        )
        .join(' → ')}`,
    ],
    [
      'Weights',
      weights.kind === 'full'
        ? 'all'
        : `LoRA, rank ${String(result.lora?.rank ?? weights.rank)}, alpha ${formatNumber(result.lora?.alpha ?? loraAlpha(weights))}`,
    ],
    ['Seed', String(job.seed)],
  ];
  return (
    <section className={styles.section} aria-label="Result">
      <div className={styles.sectionHead}>
        <h2>Result</h2>
        <span className={styles.spacer} />
        <CopyButton value={result.file}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy the path'}
            </Button>
          )}
        </CopyButton>
        {result.kind === 'adapter' && (
          <>
            <Button variant="default" component={Link} href={continueHref(result)}>
              Continue training…
            </Button>
            <Button variant="default" component={Link} href={mergeHref(result)}>
              Merge into a model…
            </Button>
          </>
        )}
        <Button component={Link} href={policyHref(result)} leftSection={<IconPlayerPlay size={14} />}>
          Use it as a policy
        </Button>
      </div>
      <Facts facts={facts} />
    </section>
  );
}
