import { NumberInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FitEstimate, Model } from '#shared/schema/model.ts';
import { orpc } from '../../rpc/client.ts';
import { formatBytes, formatInteger } from '../../ui/format.ts';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { MeaningBadge } from '../../ui/status-badge.tsx';
import { Stat, Term } from '../../ui/text.tsx';
import styles from './models.module.css';

/** Will it fit, before anything is loaded: moves with the two numbers that decide the cache. */
export function FitSection({ model }: { model: Model }) {
  const [contextTokens, setContextTokens] = useState(4096);
  const [sequences, setSequences] = useState(8);
  const [input] = useDebouncedValue({ modelId: model.modelId, contextTokens, sequences }, 200);
  const fit = useQuery({
    ...orpc.models.fit.queryOptions({ input }),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <section className={styles.section} aria-label="Fit">
      <h2>Will it fit?</h2>
      <div className={styles.inline}>
        <NumberInput
          label={<Term name="context">Context of one sequence</Term>}
          w={160}
          min={64}
          max={10_000_000}
          thousandSeparator=","
          rightSection={<span className={styles.dim}>tokens</span>}
          rightSectionWidth={50}
          value={contextTokens}
          onChange={(next) => {
            if (typeof next === 'number' && next >= 64) setContextTokens(next);
          }}
        />
        <NumberInput
          label={<Term name="sequences">Sequences</Term>}
          w={110}
          min={1}
          max={256}
          value={sequences}
          onChange={(next) => {
            if (typeof next === 'number' && next >= 1) setSequences(next);
          }}
        />
      </div>
      {fit.isPending && <LoadingState rows={2} rowHeight={36} />}
      {fit.isError && <ErrorState title="The fit could not be estimated" error={fit.error} />}
      {fit.data !== undefined && <FitResult fit={fit.data} />}
    </section>
  );
}

function FitResult({ fit }: { fit: FitEstimate }) {
  const parts = [
    { label: 'weights', bytes: fit.weightsBytes, color: 'var(--dd-accent)' },
    { label: 'KV cache', bytes: fit.kvCacheBytes, color: 'var(--dd-cell-alternative)' },
    { label: 'computation', bytes: fit.computeBytes, color: 'var(--dd-cell-expert)' },
  ];
  const whole = Math.max(fit.availableBytes, fit.totalBytes, 1);
  return (
    <>
      <div className={styles.stats}>
        <Stat
          label="Verdict"
          value={
            fit.fits ? (
              <MeaningBadge meaning="success" word="fits" plain />
            ) : (
              <MeaningBadge meaning="error" word="does not fit" plain />
            )
          }
        />
        <Stat
          label="Needs"
          value={formatBytes(fit.totalBytes)}
          title={`${formatInteger(fit.totalBytes)} bytes`}
        />
        <Stat label="Available" value={formatBytes(fit.availableBytes)} />
        <Stat label="Layers on the GPU" value={`${String(fit.gpuLayers)} of ${String(fit.totalLayers)}`} />
      </div>
      <div
        className={styles.memory}
        role="img"
        aria-label={`${formatBytes(fit.totalBytes)} of ${formatBytes(fit.availableBytes)}`}
      >
        {parts.map(({ label, bytes, color }) => (
          <span key={label} style={{ width: `${String((100 * bytes) / whole)}%`, background: color }} />
        ))}
      </div>
      <div className={styles.legend}>
        {parts.map(({ label, bytes, color }) => (
          <span key={label}>
            <span className={styles.swatch} style={{ background: color }} />
            {label} {formatBytes(bytes)}
          </span>
        ))}
      </div>
      {fit.advice !== '' && <p style={{ margin: '8px 0 0' }}>{fit.advice}</p>}
    </>
  );
}
