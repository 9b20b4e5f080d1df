import { Select } from '@mantine/core';
import { FieldList } from './field-list.tsx';
import { FieldRow } from './field-row.tsx';
import type { Field } from './fields.ts';
import { fieldId, useFormData, useSetField } from './form-context.tsx';
import styles from './form.module.css';

/** A discriminated union: which, and the fields of that one. */
export function VariantsView({ field }: { field: Extract<Field, { kind: 'variants' }> }) {
  const set = useSetField();
  const tagPath = [...field.path, field.discriminator];
  const fallback = (field.defaultValue as Record<string, unknown> | undefined)?.[field.discriminator];
  const tag = useFormData((form) => form.value(tagPath)) ?? fallback;
  const chosen = field.variants.find((variant) => variant.value === tag);
  return (
    <>
      <FieldRow field={field} help={chosen?.meta.help ?? ''} wide>
        <Select
          id={fieldId(field.path)}
          data={field.variants.map(({ value, meta }) => ({ value, label: meta.title }))}
          value={typeof tag === 'string' ? tag : null}
          onChange={(next) => {
            // Fields of the other variant would be unknown keys here.
            set(field.path, next === fallback || next === null ? undefined : { [field.discriminator]: next });
          }}
        />
      </FieldRow>
      {chosen !== undefined && chosen.fields.length > 0 && (
        <div className={styles.group}>
          <FieldList fields={chosen.fields} />
        </div>
      )}
    </>
  );
}

/** A word such as `self`, or a whole role in its place. */
export function WordOrGroupView({ field }: { field: Extract<Field, { kind: 'word-or-group' }> }) {
  const set = useSetField();
  const value = useFormData((form) => form.value(field.path));
  const own = value !== null && typeof value === 'object';
  const word = typeof value === 'string' ? value : String(field.defaultValue ?? field.words[0] ?? '');
  return (
    <>
      <FieldRow field={field}>
        <Select
          id={fieldId(field.path)}
          w={180}
          data={[
            ...field.words.map((each) => ({ value: each, label: each })),
            { value: '\0own', label: 'another model' },
          ]}
          value={own ? '\0own' : word}
          onChange={(next) => {
            if (next === '\0own') set(field.path, { model: '' });
            else set(field.path, next === field.defaultValue ? undefined : next);
          }}
        />
      </FieldRow>
      {own && (
        <div className={styles.group}>
          <FieldList fields={field.fields} />
        </div>
      )}
    </>
  );
}
