import { MarkIcon } from './mark-icon.tsx';
import { MonoText } from './mono-text.tsx';
import { markLabels } from './step-view.ts';
import type { StepView } from './step-view.ts';
import styles from './viewer.module.css';

/** Reads like the loop: what the policy saw, what it thought, what it did, what came back. */
export function StepText({ step, search = '' }: { step: StepView; search?: string }) {
  return (
    <div className={styles.stepText}>
      <Block label="Observation" symbol={`s${subscript(step.index)}`}>
        <MonoText text={step.state} search={search} empty="The environment said nothing." />
      </Block>
      {step.thought !== null && (
        <Block label="Thought">
          <MonoText text={step.thought} search={search} empty="empty" />
        </Block>
      )}
      <Block label="Action" symbol={`a${subscript(step.index)}`} tone="action">
        <MonoText text={step.action} search={search} empty="No action could be read from the answer." />
        {step.marks.filter((mark) => mark !== 'branched').length > 0 && (
          <ul className={styles.markList}>
            {step.marks
              .filter((mark) => mark !== 'branched')
              .map((mark) => (
                <li key={mark}>
                  <MarkIcon mark={mark} /> {markLabels[mark]}
                </li>
              ))}
          </ul>
        )}
      </Block>
      <Block label="Outcome" symbol={`s${subscript(step.index + 1)}`} tone="outcome">
        <MonoText text={step.outcome} search={search} empty="The environment said nothing." />
      </Block>
    </div>
  );
}

export function Block({
  label,
  symbol,
  tone = 'plain',
  children,
}: {
  label: string;
  symbol?: string;
  tone?: 'plain' | 'action' | 'outcome';
  children: React.ReactNode;
}) {
  return (
    <section className={styles.block} data-tone={tone}>
      <h3 className={styles.blockLabel}>
        {label}
        {symbol !== undefined && <span className={styles.symbol}>{symbol}</span>}
      </h3>
      {children}
    </section>
  );
}

/** 12 → ₁₂, as the papers write s_12. */
export function subscript(value: number): string {
  return String(value)
    .split('')
    .map((digit) => String.fromCodePoint(0x2080 + Number(digit)))
    .join('');
}
