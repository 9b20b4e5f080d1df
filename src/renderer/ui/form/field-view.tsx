import { memo } from 'react';
import type { ReactNode } from 'react';
import { FieldControl } from './field-control.tsx';
import { GroupsView } from './field-groups.tsx';
import { FieldList } from './field-list.tsx';
import { FieldRow } from './field-row.tsx';
import { VariantsView, WordOrGroupView } from './field-unions.tsx';
import type { Field } from './fields.ts';
import styles from './form.module.css';

/** One field of the schema as a control. An emptied control takes the key away, so that the default holds. */
export const FieldView = memo(function FieldView({ field }: { field: Field }): ReactNode {
  switch (field.kind) {
    case 'fixed':
      return null;
    case 'group':
      return (
        <div className={styles.group}>
          <p className={styles.groupTitle}>
            {field.meta.title} <span className={styles.dim}>{field.meta.help}</span>
          </p>
          <FieldList fields={field.fields} />
        </div>
      );
    case 'variants':
      return <VariantsView field={field} />;
    case 'word-or-group':
      return <WordOrGroupView field={field} />;
    case 'groups':
      return <GroupsView field={field} />;
    default:
      return (
        <FieldRow field={field} wide={field.kind === 'text' || field.kind === 'words'}>
          <FieldControl field={field} />
        </FieldRow>
      );
  }
});
