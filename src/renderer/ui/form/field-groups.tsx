import { Button, NumberInput, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { FieldRow } from './field-row.tsx';
import type { Field } from './fields.ts';
import { fieldId, useFormData, useSetField } from './form-context.tsx';

/** A list of small objects, one line each. */
export function GroupsView({ field }: { field: Extract<Field, { kind: 'groups' }> }) {
  const setField = useSetField();
  const value = useFormData((form) => form.value(field.path));
  const entries: unknown[] = Array.isArray(value) ? value : [];
  const set = (next: unknown[]) => {
    setField(field.path, next.length === 0 ? undefined : next);
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
