import type { DatasetPart } from '#shared/schema/dataset.ts';

/** What a trainer pastes. The folder's card names one configuration per part, so `load_dataset(folder, part)` finds it. */
export function loadDatasetSnippet(folder: string, part: DatasetPart): string {
  return [
    'from datasets import load_dataset',
    '',
    `rows = load_dataset(${JSON.stringify(folder)}, ${JSON.stringify(part)}, split="train")`,
    'print(rows[0]["messages"])',
  ].join('\n');
}
