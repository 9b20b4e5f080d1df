import { Autocomplete } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { orpc } from '../../rpc/client.ts';
import { shortId } from '../../ui/format.ts';
import { FieldRow } from '../../ui/form/field-row.tsx';
import type { Field } from '../../ui/form/fields.ts';
import { fieldId, useFormData, useSetField } from '../../ui/form/form-context.tsx';
import { datasetOf } from './draft.ts';

/** A stored data set by name, or the path of a folder with its jsonl files. */
export function DatasetSelect({ field }: { field: Field }) {
  const set = useSetField();
  const { data } = useQuery(orpc.datasets.list.queryOptions({ input: { limit: 200 } }));
  const labels = new Map(
    (data?.items ?? []).map((dataset) => [
      dataset.datasetId as string,
      `${dataset.name} · ${shortId(dataset.datasetId)}`,
    ]),
  );
  const id = useFormData((form) => form.value([...field.path, 'datasetId']));
  const folder = useFormData((form) => form.value([...field.path, 'folder']));
  const text = typeof id === 'string' ? id : typeof folder === 'string' ? folder : '';
  const label = labels.get(text);
  return (
    <FieldRow field={field} wide>
      <Autocomplete
        id={fieldId(field.path)}
        size="xs"
        value={text}
        placeholder="Choose a data set, or type the path of a folder"
        data={[...labels.keys()]}
        filter={({ options, search }) =>
          labels.has(search)
            ? options
            : options.filter(
                (option) =>
                  'value' in option &&
                  `${option.value} ${labels.get(option.value) ?? ''}`
                    .toLowerCase()
                    .includes(search.toLowerCase()),
              )
        }
        renderOption={({ option }) => labels.get(option.value) ?? option.value}
        onChange={(next) => {
          set(field.path, datasetOf(next, [...labels.keys()]));
        }}
        rightSection={
          label === undefined ? undefined : (
            <span style={{ color: 'var(--dd-text-dim)', whiteSpace: 'nowrap' }}>{label}</span>
          )
        }
        rightSectionWidth={label === undefined ? 0 : 230}
      />
    </FieldRow>
  );
}
