import { dominantMark, markLabels } from './step-view.ts';
import type { StepView } from './step-view.ts';
import styles from './viewer.module.css';

/** The whole episode in one strip: a cell a step, coloured and notched by its worst mark. Click goes to the step. */
export function Minimap({
  steps,
  selected,
  onSelect,
}: {
  steps: readonly Pick<StepView, 'index' | 'action' | 'marks'>[];
  selected: number | null;
  onSelect: (index: number) => void;
}) {
  return (
    <div className={styles.minimap} role="group" aria-label={`Overview of ${String(steps.length)} steps`}>
      {steps.map((step) => {
        const mark = dominantMark(step.marks);
        return (
          <button
            key={step.index}
            type="button"
            tabIndex={-1}
            className={styles.cell}
            data-mark={mark ?? 'plain'}
            data-selected={step.index === selected || undefined}
            title={`${String(step.index)} · ${step.action}${mark === null ? '' : ` · ${markLabels[mark]}`}`}
            aria-label={`Step ${String(step.index)}`}
            onClick={() => {
              onSelect(step.index);
            }}
          />
        );
      })}
    </div>
  );
}
