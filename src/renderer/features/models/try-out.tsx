import { Button, NumberInput, SegmentedControl, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { promptFormatSchema } from '#shared/schema/model.ts';
import type { Model } from '#shared/schema/model.ts';
import { orpc } from '../../rpc/client.ts';
import { formatInteger, formatNumber } from '../../ui/format.ts';
import { ErrorState } from '../../ui/states.tsx';
import { Term } from '../../ui/text.tsx';
import styles from './models.module.css';

/** From certain (no shade) to a probability of 1 % and less (full shade). */
export function shadeOf(logprob: number): number {
  return Math.max(0, Math.min(1, -logprob / Math.log(100)));
}

/** One answer by hand: the exact prompt, the text, and how sure the model was of each token. */
export function TryOut({ model }: { model: Model }) {
  const [prompt, setPrompt] = useState('You are in the middle of a room. What do you do first?');
  const [format, setFormat] = useState('auto');
  const [temperature, setTemperature] = useState(0.4);
  const [maxTokens, setMaxTokens] = useState(64);
  const [seed, setSeed] = useState(1);
  const answer = useMutation(orpc.models.tryOut.mutationOptions());
  const submit = () => {
    if (prompt === '' || answer.isPending) return;
    answer.mutate({
      modelId: model.modelId,
      prompt,
      format: promptFormatSchema.parse(format),
      sampling: { temperature },
      maxTokens,
      seed,
    });
  };
  const data = answer.data;
  return (
    <section className={styles.section} aria-label="Try it">
      <h2>Try it</h2>
      <Textarea
        aria-label="Prompt"
        autosize
        minRows={3}
        maxRows={12}
        value={prompt}
        styles={{ input: { fontFamily: 'var(--dd-font-mono)', fontSize: 12.5 } }}
        onChange={(event) => {
          setPrompt(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      />
      <div className={styles.inline} style={{ marginTop: 8 }}>
        <SegmentedControl
          aria-label="Prompt format"
          data={[...promptFormatSchema.options]}
          value={format}
          onChange={setFormat}
        />
        <NumberInput
          label="Temperature"
          w={90}
          min={0}
          max={5}
          step={0.1}
          value={temperature}
          onChange={(next) => {
            if (typeof next === 'number') setTemperature(next);
          }}
        />
        <NumberInput
          label="Longest answer"
          w={100}
          min={1}
          max={2048}
          allowDecimal={false}
          value={maxTokens}
          onChange={(next) => {
            if (typeof next === 'number') setMaxTokens(next);
          }}
        />
        <NumberInput
          label="Seed"
          w={90}
          min={0}
          allowDecimal={false}
          value={seed}
          onChange={(next) => {
            if (typeof next === 'number') setSeed(next);
          }}
        />
        <Button loading={answer.isPending} disabled={prompt === ''} onClick={submit}>
          Answer
        </Button>
      </div>
      {answer.isError && <ErrorState title="No answer" error={answer.error} />}
      {data !== undefined && (
        <>
          <pre className={styles.output} aria-label="Answer">
            {data.tokens.length === 0
              ? data.text || '(nothing)'
              : data.tokens.map((token, index) => (
                  <span
                    key={index}
                    className={styles.token}
                    style={{
                      background: `color-mix(in srgb, var(--dd-cell-invalid) ${String(Math.round(shadeOf(token.logprob) * 45))}%, transparent)`,
                    }}
                    title={`id ${String(token.id)} · log-probability ${token.logprob.toFixed(3)} · ${formatNumber(100 * Math.exp(token.logprob))} %`}
                  >
                    {token.text}
                  </span>
                ))}
          </pre>
          <p className={styles.dim}>
            {formatInteger(data.tokens.length)} tokens, stopped by {data.stopReason}. The darker a token, the
            less likely it was; hover for its <Term name="log-probability" />.
          </p>
          <details>
            <summary className={styles.dim}>What the model read</summary>
            <pre className={styles.output}>{data.rendered}</pre>
          </details>
        </>
      )}
    </section>
  );
}
