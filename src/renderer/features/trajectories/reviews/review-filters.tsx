import { Select } from '@mantine/core';
import { reflectionFlagSchema } from '#shared/schema/branch.ts';
import { flagLabels } from '../../../ui/flag-labels.ts';
import type { ReviewQuery, writeReviewQuery } from './review-query.ts';

/** Which reflections the queue holds. */
export function ReviewFilters({
  filter,
  onChange,
}: {
  readonly filter: ReviewQuery['filter'];
  readonly onChange: (change: Parameters<typeof writeReviewQuery>[0]) => void;
}) {
  return (
    <>
      <Select
        size="xs"
        aria-label="Decision"
        w={150}
        allowDeselect={false}
        data={[
          { value: 'pending', label: 'Not decided' },
          { value: 'keep', label: 'Kept by you' },
          { value: 'drop', label: 'Dropped by you' },
          { value: 'all', label: 'All decisions' },
        ]}
        value={filter.decision ?? 'all'}
        onChange={(value) => {
          onChange({ decision: value ?? 'all' });
        }}
      />
      <Select
        size="xs"
        aria-label="Detector flag"
        w={150}
        placeholder="Any flag"
        clearable
        data={reflectionFlagSchema.options.map((flag) => ({
          value: flag,
          label: flagLabels[flag].label,
        }))}
        value={filter.flag ?? null}
        onChange={(value) => {
          onChange({ flag: value });
        }}
      />
      <Select
        size="xs"
        aria-label="Filters’ verdict"
        w={185}
        placeholder="Kept or dropped"
        clearable
        data={[
          { value: 'true', label: 'Kept by the filters' },
          { value: 'false', label: 'Dropped by the filters' },
        ]}
        value={filter.kept === undefined ? null : String(filter.kept)}
        onChange={(value) => {
          onChange({ kept: value ?? 'all' });
        }}
      />
    </>
  );
}
