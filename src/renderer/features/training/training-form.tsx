import { useMemo } from 'react';
import type { RunProblem } from '#shared/schema/run.ts';
import { FieldList } from '../../ui/form/field-list.tsx';
import { FormProvider } from '../../ui/form/form-context.tsx';
import type { FormContext } from '../../ui/form/form-context.tsx';
import styles from '../../ui/form/form.module.css';
import { DatasetSelect } from './dataset-select.tsx';
import { DeviceSelect } from './device-select.tsx';
import { impliedIn, valueIn, withValueIn } from './draft.ts';
import type { Draft } from './draft.ts';
import { trainingSections } from './sections.ts';

/** The form of a training: every title, unit, range, default and reason is the schema's. */
export function TrainingForm({
  draft,
  problems,
  onChange,
}: {
  draft: Draft;
  problems: readonly RunProblem[];
  onChange: (draft: Draft) => void;
}) {
  const form = useMemo<FormContext>(
    () => ({
      value: (path) => valueIn(draft, path),
      set: (path, value) => {
        onChange(withValueIn(draft, path, value));
      },
      implied: (path) => impliedIn(draft, path),
      problems: (path) => problems.filter((problem) => problem.path === path.join('.')),
    }),
    [draft, problems, onChange],
  );
  return (
    <FormProvider value={form}>
      {trainingSections(form.value).map(({ id, title, help, fields }) => (
        <section key={id} className={styles.section} aria-label={title}>
          <div className={styles.sectionHead}>
            <h2>{title}</h2>
            <span className={styles.dim}>{help}</span>
          </div>
          {fields
            .filter(({ key }) => key === 'dataset')
            .map((field) => (
              <DatasetSelect key={field.key} field={field} />
            ))}
          {fields
            .filter(({ key }) => key === 'device')
            .map((field) => (
              <DeviceSelect key={field.key} field={field} />
            ))}
          <FieldList fields={fields.filter(({ key }) => key !== 'dataset' && key !== 'device')} />
        </section>
      ))}
    </FormProvider>
  );
}
