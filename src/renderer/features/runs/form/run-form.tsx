import { useMemo } from 'react';
import type { Run, RunProblem } from '#shared/schema/run.ts';
import { FieldList } from '../../../ui/form/field-list.tsx';
import { FormProvider } from '../../../ui/form/form-context.tsx';
import type { FormContext } from '../../../ui/form/form-context.tsx';
import { sectionsOf } from './sections.ts';
import { valueAt, withValue } from './yaml-draft.ts';
import type { Draft } from './yaml-draft.ts';
import styles from '../../../ui/form/form.module.css';

/** The form of a run in the order of the pipeline. It holds no state: every value is read from the YAML and written back to it. */
export function RunForm({
  kind,
  draft,
  yaml,
  problems,
  onChange,
}: {
  kind: Run['kind'];
  /** Of `yaml`, read once. */
  draft: Draft;
  yaml: string;
  problems: readonly RunProblem[];
  onChange: (yaml: string) => void;
}) {
  const sections = useMemo(() => sectionsOf(kind), [kind]);
  const form = useMemo<FormContext>(
    () => ({
      value: (path) => (draft.ok ? valueAt(draft.document, path) : undefined),
      set: (path, value) => {
        onChange(withValue(yaml, path, value));
      },
      problems: (path) => problems.filter((problem) => problem.path === path.join('.')),
    }),
    [draft, yaml, problems, onChange],
  );
  return (
    <FormProvider value={form}>
      {sections.map((section, index) => (
        <section
          key={section.id}
          id={`section-${section.id}`}
          className={styles.section}
          aria-label={section.title}
        >
          <div className={styles.sectionHead}>
            <h2>
              {index > 0 && <span className={styles.number}>{index}. </span>}
              {section.title}
            </h2>
            <span className={styles.dim}>{section.help}</span>
          </div>
          <FieldList fields={section.fields} />
        </section>
      ))}
    </FormProvider>
  );
}
