import { memo } from 'react';
import type { Field } from './fields.ts';
import { FieldView } from './field-view.tsx';
import { useFormData } from './form-context.tsx';
import styles from './form.module.css';

/** Plain fields first; advanced ones folded, unless one of them is set or has a problem. */
export const FieldList = memo(function FieldList({ fields }: { fields: readonly Field[] }) {
  const plain = fields.filter(({ meta }) => !meta.advanced);
  const advanced = fields.filter(({ meta }) => meta.advanced);
  const needed = useFormData((form) =>
    advanced.some(
      ({ path }) =>
        form.value(path) !== undefined || form.problems(path).some(({ severity }) => severity === 'error'),
    ),
  );
  return (
    <>
      {plain.map((field) => (
        <FieldView key={field.key} field={field} />
      ))}
      {advanced.length > 0 && (
        <details className={styles.advanced} open={needed || undefined}>
          <summary>{advanced.length} advanced</summary>
          {advanced.map((field) => (
            <FieldView key={field.key} field={field} />
          ))}
        </details>
      )}
    </>
  );
});
