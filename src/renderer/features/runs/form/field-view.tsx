import { Button, NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FieldList } from './field-list.tsx';
import { FieldRow } from './field-row.tsx';
import type { Field } from './fields.ts';
import { fieldId, useForm } from './form-context.ts';
import { EnvironmentSelect, ModelSelect } from './pickers.tsx';
import styles from './form.module.css';

/** One field of the schema as a control. An emptied control takes the key away, so that the default holds. */
export function FieldView({ field }: { field: Field }): ReactNode {
  switch (field.kind) {
    case 'fixed':
      return null;
    case 'group':
      return (
        <div className={styles.group}>
          <p className={styles.groupTitle}>{field.meta.title}</p>
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
          <Control field={field} />
        </FieldRow>
      );
  }
}

type Simple = Extract<Field, { kind: 'number' | 'text' | 'switch' | 'choice' | 'words' }>;

function Control({ field }: { field: Simple }) {
  const form = useForm();
  const value = form.value(field.path);
  const id = fieldId(field.path);
  // A key that is emptied goes when one leaves the field: deleted at once, it would lose its comment while one types the next value.
  const [emptied, setEmptied] = useState(false);
  const set = (next: unknown) => {
    setEmptied(false);
    form.set(field.path, next);
  };
  const onBlur = () => {
    if (emptied) set(undefined);
  };
  const shownDefault =
    field.defaultValue === null || field.defaultValue === undefined ? '' : String(field.defaultValue);
  switch (field.kind) {
    case 'number':
      return (
        <NumberInput
          id={id}
          w={110}
          value={typeof value === 'number' && !emptied ? value : ''}
          onBlur={onBlur}
          placeholder={shownDefault === '' ? 'none' : shownDefault}
          allowDecimal={!field.integer}
          thousandSeparator=","
          onChange={(next) => {
            if (typeof next === 'number') set(next);
            else if (value !== undefined) setEmptied(true);
          }}
        />
      );
    case 'switch':
      return (
        <Switch
          id={id}
          checked={typeof value === 'boolean' ? value : field.defaultValue === true}
          onChange={(event) => {
            const next = event.currentTarget.checked;
            set(next === field.defaultValue ? undefined : next);
          }}
        />
      );
    case 'choice':
      return (
        <Select
          id={id}
          w={180}
          data={field.options}
          value={typeof value === 'string' ? value : shownDefault}
          onChange={(next) => {
            set(next === field.defaultValue ? undefined : (next ?? undefined));
          }}
        />
      );
    case 'words':
      return (
        <TagsInput
          id={id}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(next) => {
            set(next.length === 0 ? undefined : next);
          }}
        />
      );
    case 'text':
      if (field.path.join('.') === 'environment.id')
        return <EnvironmentSelect id={id} value={value} onChange={set} />;
      if (field.key === 'model') return <ModelSelect id={id} value={value} onChange={set} />;
      return (
        <TextInput
          id={id}
          value={typeof value === 'string' && !emptied ? value : ''}
          placeholder={shownDefault}
          onBlur={onBlur}
          onChange={(event) => {
            const next = event.currentTarget.value;
            if (next !== '') set(next);
            else setEmptied(true);
          }}
        />
      );
  }
}

function VariantsView({ field }: { field: Extract<Field, { kind: 'variants' }> }) {
  const form = useForm();
  const tagPath = [...field.path, field.discriminator];
  const fallback = (field.defaultValue as Record<string, unknown> | undefined)?.[field.discriminator];
  const tag = form.value(tagPath) ?? fallback;
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
            form.set(
              field.path,
              next === fallback || next === null ? undefined : { [field.discriminator]: next },
            );
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

function WordOrGroupView({ field }: { field: Extract<Field, { kind: 'word-or-group' }> }) {
  const form = useForm();
  const value = form.value(field.path);
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
            if (next === '\0own') form.set(field.path, { model: '' });
            else form.set(field.path, next === field.defaultValue ? undefined : next);
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

function GroupsView({ field }: { field: Extract<Field, { kind: 'groups' }> }) {
  const form = useForm();
  const value = form.value(field.path);
  const entries: unknown[] = Array.isArray(value) ? value : [];
  const set = (next: unknown[]) => {
    form.set(field.path, next.length === 0 ? undefined : next);
  };
  return (
    <FieldRow field={field} wide>
      <div>
        {entries.map((entry, index) => {
          const record = (entry ?? {}) as Record<string, unknown>;
          const update = (key: string, next: unknown) => {
            set(entries.map((old, at) => (at === index ? { ...record, [key]: next } : old)));
          };
          return (
            <div key={index} style={{ display: 'flex', gap: 8, marginBottom: 4 }}>
              {field.fields.map((child) =>
                child.kind === 'number' ? (
                  <NumberInput
                    key={child.key}
                    w={80}
                    aria-label={child.meta.title}
                    placeholder={String(child.defaultValue ?? '')}
                    value={typeof record[child.key] === 'number' ? (record[child.key] as number) : ''}
                    onChange={(next) => {
                      update(child.key, typeof next === 'number' ? next : child.defaultValue);
                    }}
                  />
                ) : (
                  <TextInput
                    key={child.key}
                    flex={1}
                    aria-label={child.meta.title}
                    placeholder={child.meta.title}
                    value={typeof record[child.key] === 'string' ? (record[child.key] as string) : ''}
                    onChange={(event) => {
                      update(child.key, event.currentTarget.value);
                    }}
                  />
                ),
              )}
              <Button
                variant="default"
                aria-label={`Remove entry ${String(index + 1)}`}
                onClick={() => {
                  set(entries.filter((_, at) => at !== index));
                }}
              >
                <IconTrash size={14} />
              </Button>
            </div>
          );
        })}
        <Button
          id={fieldId(field.path)}
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            set([
              ...entries,
              Object.fromEntries(field.fields.map(({ key, defaultValue }) => [key, defaultValue ?? ''])),
            ]);
          }}
        >
          Add
        </Button>
      </div>
    </FieldRow>
  );
}
