import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { orpc } from '../../rpc/client.ts';
import { FieldRow } from '../../ui/form/field-row.tsx';
import type { Field } from '../../ui/form/fields.ts';
import { fieldId, useFormData, useSetField } from '../../ui/form/form-context.tsx';

/** The devices that the trainer finds here, by name; those that it does not find are greyed, with the reason. */
export function DeviceSelect({ field }: { field: Field }) {
  const set = useSetField();
  const { data, isPending, isError } = useQuery({
    ...orpc.training.devices.queryOptions(),
    staleTime: Infinity,
  });
  const fallback = typeof field.defaultValue === 'string' ? field.defaultValue : '';
  const given = useFormData((form) => form.value(field.path));
  const value = typeof given === 'string' ? given : fallback;
  const facts = data ?? [{ device: value, name: '', reason: null }];
  const chosen = facts.find(({ device }) => device === value);
  return (
    <FieldRow
      field={field}
      help={
        isPending ? 'Looking for devices…' : isError ? 'The trainer could not be asked for its devices.' : ''
      }
    >
      <Select
        id={fieldId(field.path)}
        w={180}
        data={facts.map(({ device, reason }) => ({
          value: device,
          label: device,
          disabled: reason !== null,
        }))}
        value={value}
        allowDeselect={false}
        maxDropdownHeight={400}
        // The reason is there to be read: what cannot be chosen is not faded away.
        styles={{ option: { opacity: 1 } }}
        comboboxProps={{ width: 420, position: 'bottom-start' }}
        renderOption={({ option }) => {
          const one = facts.find(({ device }) => device === option.value);
          return (
            <span style={{ whiteSpace: 'normal' }}>
              {one?.reason === null ? option.label : <s>{option.label}</s>}{' '}
              <span style={{ color: 'var(--dd-text-dim)', fontSize: 12 }}>
                {one?.reason === null ? one.name : `not here: ${one?.reason ?? ''}`}
              </span>
            </span>
          );
        }}
        onChange={(next) => {
          set(field.path, next === null || next === fallback ? undefined : next);
        }}
      />
      <span style={{ color: 'var(--dd-text-dim)', fontSize: 12 }}>
        {chosen?.reason === null || chosen === undefined ? chosen?.name : `✕ not here: ${chosen.reason}`}
      </span>
    </FieldRow>
  );
}
