import { Select, Slider, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { jobIdSchema } from '#shared/ids.ts';
import type { JobId } from '#shared/ids.ts';
import type { Job, MetricPoint } from '#shared/schema/job.ts';
import { LineChart } from '../../../charts/line-chart.tsx';
import type { ChartLine } from '../../../charts/line-chart.tsx';
import { seriesOf } from '../../../charts/series.ts';
import { orpc } from '../../../rpc/client.ts';
import { formatNumber, shortId } from '../../../ui/format.ts';
import { ErrorState, LoadingState } from '../../../ui/states.tsx';
import { metricLook, metricRank, uncharted } from './metric-looks.ts';
import { useMetrics } from './use-metrics.ts';
import styles from './run.module.css';

interface Chart {
  key: string;
  name: string;
  stage: string;
  kind: string;
  lines: ChartLine[];
}

function charts(
  stages: readonly Job[],
  points: readonly (readonly MetricPoint[])[],
  other: { label: string; stages: readonly Job[]; points: readonly (readonly MetricPoint[])[] } | null,
): Chart[] {
  return stages.flatMap((stage, index) => {
    const own = points[index] ?? [];
    // Losses in the order of their stages.
    const start = (name: string) => (name.startsWith('loss/') ? (seriesOf(own, name, '').steps[0] ?? 0) : 0);
    const names = [...new Set(own.map(({ name }) => name))]
      .filter((name) => !uncharted.has(name))
      .map((name) => ({ name, rank: metricRank(name), start: start(name) }))
      .toSorted((left, right) =>
        left.rank === right.rank ? left.start - right.start : left.rank < right.rank ? -1 : 1,
      )
      .map(({ name }) => name);
    return names.map((name) => {
      const lines: ChartLine[] = [
        { ...seriesOf(own, name, 'this run'), color: metricLook(name, stage.kind).color },
      ];
      const twin =
        other?.stages.findIndex(
          (candidate) => candidate.stage === stage.stage && candidate.kind === stage.kind,
        ) ?? -1;
      if (other !== null && twin !== -1) {
        const series = seriesOf(other.points[twin] ?? [], name, other.label);
        if (series.steps.length > 0) lines.push({ ...series, color: '--dd-text-dim', dashed: true });
      }
      return {
        key: `${stage.jobId}/${name}`,
        name,
        stage: stage.stage ?? stage.kind,
        kind: stage.kind,
        lines,
      };
    });
  });
}

/** One value all along says more in words than as a line. */
function isFlat({ values }: ChartLine): boolean {
  return values.length > 1 && values.every((value) => value === values[0]);
}

/** The curves of the chosen stages; another run of the same kind beside them, dashed. */
export function Curves({ job, stages, live }: { job: Job; stages: readonly Job[]; live: boolean }) {
  const [parameters, setParameters] = useSearchParams();
  const smoothing = Number(parameters.get('smooth') ?? 0);
  const logScale = parameters.get('log') === '1';
  const compare = parameters.get('compare');
  const results = useMetrics(stages, live);
  const others = useQuery(
    orpc.jobs.list.queryOptions({ input: { limit: 100, filter: { parentId: null, kind: job.kind } } }),
  );
  const otherId: JobId | null = compare === null ? null : jobIdSchema.parse(compare);
  const other = useQuery({
    ...orpc.jobs.get.queryOptions({ input: { jobId: otherId ?? jobIdSchema.parse('-') } }),
    enabled: otherId !== null,
  });
  const otherStages = useMemo(
    () => (otherId === null || other.data === undefined ? [] : [other.data.job, ...other.data.children]),
    [otherId, other.data],
  );
  const otherResults = useMetrics(otherStages, false);
  const set = (name: string, value: string | null) => {
    setParameters(
      (old) => {
        const next = new URLSearchParams(old);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  const failed = results.find(({ isError }) => isError);
  const points = results.map(({ data }) => data ?? []);
  const all = charts(
    stages,
    points,
    otherStages.length === 0
      ? null
      : {
          label: `run ${shortId(compare ?? '')}`,
          stages: otherStages,
          points: otherResults.map(({ data }) => data ?? []),
        },
  );
  const moving = all.filter(({ lines }) => !lines.every(isFlat));
  const flat = all.filter(({ lines }) => lines.every(isFlat));
  const choices = (others.data?.items ?? [])
    .filter(({ jobId }) => jobId !== job.jobId)
    .map((one) => ({ value: one.jobId as string, label: `${one.title} · ${shortId(one.jobId)}` }));
  return (
    <section className={styles.section} aria-label="Curves">
      <div className={styles.sectionHead}>
        <h2>Curves</h2>
        <span className={styles.spacer} />
        <div className={styles.controls}>
          <span id="smoothing-label">Smoothing</span>
          <Slider
            w={90}
            size={4}
            min={0}
            max={0.95}
            step={0.05}
            value={smoothing}
            thumbProps={{ 'aria-labelledby': 'smoothing-label' }}
            label={(value) => value.toFixed(2)}
            onChange={(value) => {
              set('smooth', value === 0 ? null : value.toFixed(2));
            }}
          />
          <Switch
            label="Log scale"
            checked={logScale}
            onChange={(event) => {
              set('log', event.currentTarget.checked ? '1' : null);
            }}
          />
          <Select
            w={210}
            aria-label="Compare with another run"
            placeholder="Compare with another run"
            data={choices}
            value={compare}
            clearable
            disabled={choices.length === 0}
            onChange={(next) => {
              set('compare', next);
            }}
          />
        </div>
      </div>
      {failed !== undefined && <ErrorState error={failed.error} />}
      {results.some(({ isPending }) => isPending) && all.length === 0 ? (
        <LoadingState rows={1} rowHeight={190} />
      ) : all.length === 0 ? (
        <p className={styles.dim}>
          {live
            ? 'Nothing is measured yet; curves begin with the first batch.'
            : 'Nothing new was measured here, so there is no curve.'}
        </p>
      ) : (
        <div className={styles.charts}>
          {moving.map((chart) => {
            const look = metricLook(chart.name, chart.kind);
            return (
              <LineChart
                key={chart.key}
                title={look.title}
                note={stages.length > 1 ? chart.stage : ''}
                unit={look.unit}
                percent={look.percent}
                xLabel={look.xLabel}
                lines={chart.lines}
                sync={job.jobId}
                smoothing={smoothing}
                logScale={logScale}
              />
            );
          })}
        </div>
      )}
      {flat.length > 0 && (
        <p className={styles.dim} style={{ margin: '8px 0 0' }}>
          Flat:{' '}
          {flat
            .map(({ name, stage, kind, lines }) => {
              const look = metricLook(name, kind);
              const last = lines[0]?.values.at(-1) ?? Number.NaN;
              const value = look.percent ? `${formatNumber(100 * last)} %` : formatNumber(last);
              return `${look.title.toLowerCase()} ${value}${look.unit === '' ? '' : ` ${look.unit}`}${stages.length > 1 ? ` (${stage})` : ''}`;
            })
            .join(' · ')}
        </p>
      )}
    </section>
  );
}
