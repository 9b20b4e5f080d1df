export { createJobEngine } from '#core/jobs/engine.ts';
export { readCheckpointFile, writeCheckpointFile } from '#core/jobs/checkpoint-file.ts';
