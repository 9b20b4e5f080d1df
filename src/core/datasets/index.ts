/** Data sets on disk: checked rows, atomic folders, reading them back. What the rows say is decided elsewhere. */
export { deleteDatasetFolder } from '#core/datasets/folder.ts';
export { DatasetReader, validateDataset } from '#core/datasets/read.ts';
export { rowProblem } from '#core/datasets/validate-row.ts';
export { writeDataset } from '#core/datasets/write.ts';
export type { DatasetContent, DatasetWriter } from '#core/datasets/write.ts';
