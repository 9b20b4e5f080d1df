import { useEffect, useRef } from 'react';
import { MarkIcon } from './mark-icon.tsx';
import type { StepView } from './step-view.ts';
import styles from './viewer.module.css';

/** Left pane: one row a step. The page owns the keys; this only keeps the selected row in sight. */
export function StepList({
  steps,
  selected,
  onSelect,
  hits = [],
  tail,
}: {
  steps: readonly StepView[];
  selected: number | null;
  onSelect: (index: number) => void;
  /** Steps that hold what is searched. */
  hits?: readonly number[];
  /** A last row that is no step: the live state of a game. */
  tail?: { label: string; selected: boolean; onSelect: () => void };
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView?.({ block: 'nearest' });
  }, [selected, tail?.selected]);
  return (
    <div className={styles.steps} role="listbox" aria-label="Steps" tabIndex={0} ref={list}>
      {steps.map((step) => (
        <div
          key={step.index}
          role="option"
          aria-selected={step.index === selected}
          className={styles.step}
          data-hit={hits.includes(step.index) || undefined}
          onClick={() => {
            onSelect(step.index);
          }}
        >
          <span className={styles.stepIndex}>{step.index}</span>
          <span className={styles.stepAction} title={step.action}>
            {step.action === '' ? '(no action)' : step.action}
          </span>
          <span className={styles.stepMarks}>
            {step.marks.map((mark) => (
              <MarkIcon key={mark} mark={mark} />
            ))}
            {step.reward !== 0 && <span className={styles.reward}>{signed(step.reward)}</span>}
          </span>
        </div>
      ))}
      {tail !== undefined && (
        <div
          role="option"
          aria-selected={tail.selected}
          className={styles.step}
          data-tail
          onClick={tail.onSelect}
        >
          <span className={styles.stepIndex}>{steps.length}</span>
          <span className={styles.stepAction}>{tail.label}</span>
        </div>
      )}
    </div>
  );
}

function signed(value: number): string {
  const text = Number.isInteger(value) ? String(Math.abs(value)) : Math.abs(value).toFixed(2);
  return `${value < 0 ? '−' : '+'}${text}`;
}
