import type { ReactNode } from 'react';
import type { Field } from './fields.ts';
import { withCode } from '../text.tsx';
import { fieldId, useFormData } from './form-context.tsx';
import styles from './form.module.css';

function rangeOf(field: Field): string {
  if (field.kind !== 'number') return '';
  const { min, max, aboveMin } = field;
  const upTo = max === null ? '' : `at most ${max.toLocaleString('en')}`;
  if (min === null) return upTo;
  if (aboveMin) return [`above ${min.toLocaleString('en')}`, upTo].filter((text) => text !== '').join(', ');
  return max === null
    ? `at least ${min.toLocaleString('en')}`
    : `${min.toLocaleString('en')}–${max.toLocaleString('en')}`;
}

/** Label, control, unit and range, the paper's value, the reason, and what is wrong: each always in the same place. */
export function FieldRow({
  field,
  help,
  wide = false,
  children,
}: {
  field: Field;
  help?: string;
  wide?: boolean;
  children: ReactNode;
}) {
  const value = useFormData((form) => form.value(field.path));
  const problems = useFormData((form) => form.problems(field.path));
  const changed =
    value !== undefined &&
    field.defaultValue !== undefined &&
    JSON.stringify(value) !== JSON.stringify(field.defaultValue);
  const reason = [field.meta.help, help ?? ''].filter((text) => text !== '').join(' ');
  const unit = [field.meta.unit, rangeOf(field)].filter((text) => text !== '').join(' · ');
  return (
    <div className={styles.row} data-field={field.path.join('.')}>
      <label
        className={changed ? `${styles.label} ${styles.changed}` : styles.label}
        htmlFor={fieldId(field.path)}
        title={changed ? 'Differs from the default; empty it to take the default.' : undefined}
      >
        {field.meta.title}
      </label>
      <div className={wide ? `${styles.control} ${styles.wide}` : styles.control}>
        {children}
        {unit !== '' && <span className={styles.unit}>{unit}</span>}
        {field.meta.paper !== '' && <span className={styles.paper}>paper: {field.meta.paper}</span>}
      </div>
      {reason !== '' && (
        <p className={styles.help} style={{ margin: 0 }}>
          {withCode(reason)}
        </p>
      )}
      {problems.map((problem) => (
        <p
          key={problem.message}
          className={problem.severity === 'error' ? styles.problem : `${styles.problem} ${styles.warning}`}
          style={{ margin: 0 }}
        >
          {problem.severity === 'error' ? '✕ ' : '! '}
          {problem.message}
        </p>
      ))}
    </div>
  );
}
