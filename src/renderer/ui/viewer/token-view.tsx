import { useMemo, useState } from 'react';
import { formatNumber } from '../format.ts';
import { shadeClasses, shadeOf, showToken, tokenStatistics } from './token-shade.ts';
import styles from './viewer.module.css';

export interface ViewToken {
  readonly id: number;
  readonly text: string;
  readonly logprob: number | null;
  readonly part: 'prompt' | 'completion';
}

/** The very tokens of a step. Sampled ones are shaded by probability; hovering or focusing one shows its numbers. */
export function TokenView({ tokens }: { tokens: readonly ViewToken[] }) {
  const [hovered, setHovered] = useState<ViewToken | null>(null);
  const [withPrompt, setWithPrompt] = useState(false);
  const completion = useMemo(() => tokens.filter((token) => token.part === 'completion'), [tokens]);
  const prompt = useMemo(() => tokens.filter((token) => token.part === 'prompt'), [tokens]);
  const statistics = useMemo(() => tokenStatistics(completion.map((token) => token.logprob)), [completion]);
  const shown = withPrompt ? tokens : completion;
  return (
    <div className={styles.tokenView}>
      <div className={styles.tokenBar}>
        <ul className={styles.legend} aria-label="Probability of the token">
          {shadeClasses.map((shade) => (
            <li key={shade.level}>
              <span className={styles.swatch} data-shade={shade.level} aria-hidden />
              {shade.label}
            </li>
          ))}
        </ul>
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={withPrompt}
            onChange={(event) => {
              setWithPrompt(event.currentTarget.checked);
            }}
          />
          {`Prompt tokens (${String(prompt.length)})`}
        </label>
      </div>
      <div className={styles.tokens}>
        {shown.map((token, index) => {
          const shade = shadeOf(token.logprob);
          return (
            <span
              key={index}
              className={styles.token}
              data-part={token.part}
              data-shade={shade ?? undefined}
              title={describeToken(token)}
              onMouseEnter={() => {
                setHovered(token);
              }}
              onMouseLeave={() => {
                setHovered(null);
              }}
            >
              {showToken(token.text)}
            </span>
          );
        })}
      </div>
      <p className={styles.tokenFacts} aria-live="off">
        {hovered !== null
          ? describeToken(hovered)
          : statistics === null
            ? `${String(completion.length)} tokens, no log-probabilities`
            : `${String(statistics.count)} sampled tokens · sum ${statistics.sum.toFixed(2)} nats · mean ${statistics.mean.toFixed(3)} · perplexity ${formatNumber(statistics.perplexity)} · lowest ${statistics.lowest.toFixed(2)}`}
      </p>
    </div>
  );
}

export function describeToken(token: ViewToken): string {
  const name = `${JSON.stringify(token.text)} · id ${String(token.id)}`;
  if (token.logprob === null) return `${name} · part of the prompt`;
  const percent = Math.exp(token.logprob) * 100;
  return `${name} · log p ${token.logprob.toFixed(4)} · p ${percent < 0.1 ? percent.toExponential(1) : percent.toFixed(1)} %`;
}
