import { Button } from '@mantine/core';
import { IconGauge } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { measuredWhileBusy } from '#shared/schema/model.ts';
import type { Model, ThreadCalibration } from '#shared/schema/model.ts';
import { orpc, queryClient } from '../../rpc/client.ts';
import { formatDuration, formatNumber } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { Stat, Time, useNow } from '../../ui/text.tsx';
import styles from './models.module.css';

/** Loads it for real: speed, and the thread count that this machine is fastest with. */
export function TestSection({ model }: { model: Model }) {
  const input = { modelId: model.modelId };
  const calibration = useQuery(orpc.models.calibration.queryOptions({ input, staleTime: Infinity }));
  const test = useMutation({
    ...orpc.models.test.mutationOptions(),
    onSuccess: (result) => {
      if (result.calibration !== null) {
        queryClient.setQueryData(orpc.models.calibration.queryKey({ input }), result.calibration);
      }
    },
  });
  const result = test.data;
  const isFile = model.kind !== 'http';
  const title = isFile ? 'Load test' : 'Test';
  return (
    <section className={styles.section} aria-label={title}>
      <h2>{title}</h2>
      <div className={styles.inline}>
        <Button
          variant="default"
          leftSection={<IconGauge size={14} />}
          loading={test.isPending}
          onClick={() => {
            test.mutate({ modelId: model.modelId });
          }}
        >
          {isFile ? 'Load and measure' : 'Ask for an answer'}
        </Button>
        {model.kind === 'gguf' && (
          <Button
            variant="subtle"
            color="gray"
            disabled={test.isPending}
            onClick={() => {
              test.mutate({ modelId: model.modelId, recalibrate: true });
            }}
          >
            Measure threads again
          </Button>
        )}
        {test.isPending && (
          <Running what={isFile ? 'loading and measuring' : 'asking'} since={test.submittedAt} />
        )}
      </div>
      {test.isError && <ErrorState title="The test did not run" error={test.error} />}
      {result?.error && (
        <ErrorState
          title={isFile ? 'The model was not loaded' : 'The server did not answer'}
          error={result.error}
        />
      )}
      {result?.ok === true && (
        <>
          <div className={styles.stats}>
            {isFile && (
              <>
                <Stat label="Loaded in" value={formatDuration(result.loadMs)} />
                <Stat label="Reads" value={speed(result.promptTokensPerSecond)} unit="tokens/s" />
              </>
            )}
            <Stat label="Writes" value={speed(result.completionTokensPerSecond)} unit="tokens/s" />
          </div>
          <pre className={styles.output}>{result.sample === '' ? '(it wrote nothing)' : result.sample}</pre>
        </>
      )}
      {calibration.data && <Calibration calibration={calibration.data} />}
      {model.kind === 'gguf' && calibration.data === null && !test.isPending && (
        <p className={styles.dim}>
          Threads have not been measured on this machine yet. More threads than cores are slower, often by
          far, so the first load measures them once.
        </p>
      )}
    </section>
  );
}

function Running({ what, since }: { what: string; since: number }) {
  const now = useNow(500);
  return (
    <span className={styles.dim}>
      {what}, {formatDuration(Math.max(0, now - since))}
    </span>
  );
}

function speed(value: number | null): string {
  return value === null ? '–' : formatNumber(value);
}

function Calibration({ calibration }: { calibration: ThreadCalibration }) {
  return (
    <div style={{ marginTop: 12 }}>
      <p className={styles.dim} id="calibration-facts">
        Threads, measured <Time at={calibration.at} /> on {calibration.machine}
        {measuredWhileBusy(calibration) &&
          `, while other programs used ${formatNumber(calibration.busyCores ?? 0)} cores: measure again when nothing else runs`}
      </p>
      <table className={styles.table} aria-labelledby="calibration-facts">
        <thead>
          <tr>
            <th scope="col">threads</th>
            <th scope="col">tokens/s</th>
            <th scope="col">
              <span className={styles.dim}>chosen</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {calibration.trials.map((trial) => (
            <tr
              key={trial.threads}
              className={trial.threads === calibration.threads ? styles.best : undefined}
            >
              <td>{trial.threads}</td>
              <td>{formatNumber(trial.tokensPerSecond)}</td>
              <td>{trial.threads === calibration.threads ? '✓' : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
