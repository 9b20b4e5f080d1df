import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { datasetSchema } from '#shared/schema/dataset.ts';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { wholeManifest } from '#test/helpers/sft-rows.ts';
import { UseView } from './use-view.tsx';

const file = (part: 'iwm_sft' | 'reflection_sft', rows: number) => ({
  part,
  file: `${part}.jsonl`,
  candidates: null,
  rows,
  bytes: 1,
  sha256: 'a'.repeat(64),
});

it('has a snippet for each part with rows, and says which have none', () => {
  const dataset = datasetSchema.parse({
    datasetId: 'd',
    name: 'n',
    jobId: null,
    folder: '/data',
    manifest: { ...wholeManifest(), files: [file('iwm_sft', 2), file('reflection_sft', 0)] },
    createdAt: 0,
  });
  renderUi(<UseView dataset={dataset} />);
  expect(screen.getByText(/load_dataset\("\/data", "iwm_sft"/)).toBeTruthy();
  expect(screen.queryByText(/load_dataset\(.*"reflection_sft"/)).toBeNull();
  expect(screen.getByText(/A part without rows has no configuration: reflection_sft\.jsonl/)).toBeTruthy();
});
