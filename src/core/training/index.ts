/** Training: recipes over the Trainer port, as a job. */
export { TrainerClient } from '#core/training/trainer-client.ts';
export { architectureOf, storedTensors } from '#core/training/architecture-of.ts';
export { checkTraining } from '#core/training/check.ts';
export { TrainingDevices } from '#core/training/devices.ts';
export { lineageOf } from '#core/training/lineage.ts';
export { mergeAdapter } from '#core/training/merge.ts';
export { learningRate } from '#core/training/schedule.ts';
export { createTrainJob } from '#core/training/train-job.ts';
