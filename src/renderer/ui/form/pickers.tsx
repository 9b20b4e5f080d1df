import { Autocomplete, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { orpc } from '../../rpc/client.ts';
import { formatInteger } from '../format.ts';

interface PickerProps {
  id: string;
  value: unknown;
  onChange: (next: string | undefined) => void;
}

export function EnvironmentSelect({ id, value, onChange }: PickerProps) {
  const { data = [] } = useQuery(orpc.environments.list.queryOptions());
  const known = data.map((environment) => ({
    value: environment.id as string,
    label: `${environment.title} (${formatInteger(environment.splits.reduce((sum, { tasks }) => sum + tasks, 0))} tasks)`,
  }));
  const text = typeof value === 'string' ? value : '';
  const options =
    text === '' || known.some((option) => option.value === text)
      ? known
      : [...known, { value: text, label: text }];
  return (
    <Select
      id={id}
      data={options}
      value={text === '' ? null : text}
      placeholder="Choose a world"
      onChange={(next) => {
        onChange(next ?? undefined);
      }}
    />
  );
}

/** A known model by name, or anything typed: the path of a GGUF file, `scripted:expert`. `filesOnly`: weights that can be trained. */
export function ModelSelect({
  id,
  value,
  onChange,
  filesOnly = false,
}: PickerProps & { filesOnly?: boolean }) {
  const { data = [] } = useQuery(orpc.models.list.queryOptions());
  const text = typeof value === 'string' ? value : '';
  const labels = new Map(
    data
      .filter(({ problem, kind }) => problem === null && (!filesOnly || kind === 'gguf'))
      .map((model) => [model.modelId as string, model.name]),
  );
  const scripted = filesOnly ? [] : ['scripted:expert', 'scripted:random'];
  // A field that holds a choice opens on all of them; only what is being typed narrows the list.
  const isChoice = (search: string): boolean =>
    labels.has(search) || [...labels.values()].includes(search) || scripted.includes(search);
  return (
    <Autocomplete
      id={id}
      size="xs"
      value={text}
      placeholder="Choose a model, or type the path of a GGUF file"
      data={[...labels.keys(), ...scripted]}
      filter={({ options, search }) =>
        isChoice(search)
          ? options
          : options.filter(
              (option) =>
                'value' in option &&
                (search === '' ||
                  `${option.value} ${labels.get(option.value) ?? ''}`
                    .toLowerCase()
                    .includes(search.toLowerCase())),
            )
      }
      renderOption={({ option }) => (
        <span>
          {labels.get(option.value) ?? option.value}{' '}
          <span style={{ color: 'var(--dd-text-dim)' }}>
            {labels.has(option.value) ? option.value : 'no model: for tests'}
          </span>
        </span>
      )}
      onChange={(next) => {
        onChange(next);
      }}
      rightSection={
        labels.get(text) === undefined ? undefined : (
          <span style={{ color: 'var(--dd-text-dim)', whiteSpace: 'nowrap' }}>{labels.get(text)}</span>
        )
      }
      rightSectionWidth={labels.get(text) === undefined ? 0 : 190}
    />
  );
}
