import { Button, NumberInput, Popover, Select, TextInput } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconX } from '@tabler/icons-react';
import { episodeSortSchema } from '#shared/contract/episodes.ts';
import { splitSchema } from '#shared/schema/environment.ts';
import { episodeFilterSchema, episodePurposeSchema, episodeStatusSchema } from '#shared/schema/episode.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';
import { SearchField } from '../../ui/viewer/search-field.tsx';
import { countFilters, withFilter } from './filters.ts';
import type { EpisodeQuery } from './filters.ts';
import styles from './trajectories.module.css';

export interface Facets {
  environments: string[];
  taskTypes: string[];
  policies: { policyKey: string; label: string }[];
  errorCodes: string[];
}
export const noFacets: Facets = { environments: [], taskTypes: [], policies: [], errorCodes: [] };

const sortLabels = {
  newest: 'Newest first',
  oldest: 'Oldest first',
  reward: 'Highest reward',
  steps: 'Most steps',
};
const more: (keyof EpisodeFilter)[] = [
  'taskType',
  'policyKey',
  'status',
  'errorCode',
  'minimumSteps',
  'maximumSteps',
  'jobId',
  'taskId',
];

/** All filters of the list. It holds nothing: the query comes from the URL and every change goes back there. */
export function FilterBar({
  query,
  facets,
  onChange,
}: {
  query: EpisodeQuery;
  facets: Facets;
  onChange: (query: EpisodeQuery) => void;
}) {
  const set = (key: keyof EpisodeFilter, raw: string | number | boolean | null) => {
    if (raw === null || raw === '') {
      onChange(withFilter(query, key, undefined));
      return;
    }
    const parsed = episodeFilterSchema.shape[key].safeParse(raw);
    if (parsed.success) onChange(withFilter(query, key, parsed.data));
  };
  const { filter } = query;
  const hidden = more.filter((key) => filter[key] !== undefined).length;
  const active = countFilters(filter);
  return (
    <div className={styles.filters} role="search" aria-label="Filter episodes">
      <SearchField
        label="Search the instruction"
        className={styles.search}
        value={filter.text ?? ''}
        onCommit={(text) => {
          set('text', text);
        }}
      />
      <Choice
        label="World"
        value={filter.environmentId}
        options={facets.environments}
        onChange={(v) => {
          set('environmentId', v);
        }}
      />
      <Choice
        label="Split"
        value={filter.split}
        options={splitSchema.options}
        onChange={(v) => {
          set('split', v);
        }}
      />
      <Choice
        label="Outcome"
        value={filter.success === undefined ? undefined : String(filter.success)}
        options={[
          { value: 'true', label: 'Success' },
          { value: 'false', label: 'No success' },
        ]}
        onChange={(v) => {
          set('success', v === null ? null : v === 'true');
        }}
      />
      <Choice
        label="Purpose"
        value={filter.purpose}
        options={episodePurposeSchema.options}
        onChange={(v) => {
          set('purpose', v);
        }}
      />
      <Choice
        label="Validity"
        value={filter.hasInvalid === undefined ? undefined : String(filter.hasInvalid)}
        options={[
          { value: 'true', label: 'With invalid actions' },
          { value: 'false', label: 'All actions valid' },
        ]}
        onChange={(v) => {
          set('hasInvalid', v === null ? null : v === 'true');
        }}
      />
      <Popover position="bottom-start" width={340} trapFocus withinPortal>
        <Popover.Target>
          <Button size="xs" variant="default" leftSection={<IconAdjustmentsHorizontal size={14} />}>
            {hidden === 0 ? 'More' : `More (${String(hidden)})`}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <div className={styles.moreFilters}>
            <Choice
              wide
              label="Task type"
              value={filter.taskType}
              options={facets.taskTypes}
              onChange={(v) => {
                set('taskType', v);
              }}
            />
            <Choice
              wide
              label="Policy"
              value={filter.policyKey}
              options={facets.policies.map((policy) => ({ value: policy.policyKey, label: policy.label }))}
              onChange={(v) => {
                set('policyKey', v);
              }}
            />
            <Choice
              wide
              label="Status"
              value={filter.status}
              options={episodeStatusSchema.options}
              onChange={(v) => {
                set('status', v);
              }}
            />
            <Choice
              wide
              label="Error"
              value={filter.errorCode}
              options={facets.errorCodes}
              onChange={(v) => {
                set('errorCode', v);
              }}
            />
            <NumberInput
              size="xs"
              label="Steps at least"
              min={0}
              allowDecimal={false}
              value={filter.minimumSteps ?? ''}
              onChange={(v) => {
                set('minimumSteps', v);
              }}
            />
            <NumberInput
              size="xs"
              label="Steps at most"
              min={0}
              allowDecimal={false}
              value={filter.maximumSteps ?? ''}
              onChange={(v) => {
                set('maximumSteps', v);
              }}
            />
            <TextInput
              size="xs"
              label="Run"
              value={filter.jobId ?? ''}
              onChange={(event) => {
                set('jobId', event.currentTarget.value);
              }}
            />
            <TextInput
              size="xs"
              label="Task id"
              value={filter.taskId ?? ''}
              onChange={(event) => {
                set('taskId', event.currentTarget.value);
              }}
            />
          </div>
        </Popover.Dropdown>
      </Popover>
      {active > 0 && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconX size={14} />}
          onClick={() => {
            onChange({ ...query, filter: {} });
          }}
        >
          {`Clear ${String(active)}`}
        </Button>
      )}
      <Select
        className={styles.sort}
        size="xs"
        aria-label="Sort"
        allowDeselect={false}
        data={episodeSortSchema.options.map((value) => ({ value, label: sortLabels[value] }))}
        value={query.sort}
        onChange={(value) => {
          const sort = episodeSortSchema.safeParse(value);
          if (sort.success) onChange({ ...query, sort: sort.data });
        }}
      />
    </div>
  );
}

type Option = string | { value: string; label: string };

function Choice({
  label,
  value,
  options,
  onChange,
  wide = false,
}: {
  label: string;
  value: string | undefined;
  options: readonly Option[];
  onChange: (value: string | null) => void;
  wide?: boolean;
}) {
  // A value from the URL that no episode has yet must still be visible, or the empty list would look like a fault.
  const known = options.some((option) => (typeof option === 'string' ? option : option.value) === value);
  const data = value === undefined || known ? options : [...options, value];
  const chosen = data.find((option) => (typeof option === 'string' ? option : option.value) === value);
  return (
    <Select
      size="xs"
      className={wide ? undefined : styles.choice}
      {...(wide ? { label } : { 'aria-label': label })}
      placeholder={wide ? 'any' : label}
      title={chosen === undefined ? label : `${label}: ${typeof chosen === 'string' ? chosen : chosen.label}`}
      data={[...data]}
      value={value ?? null}
      onChange={onChange}
      clearable
      searchable={options.length > 8}
      comboboxProps={{ withinPortal: !wide, width: wide ? 'target' : 'max-content' }}
    />
  );
}
