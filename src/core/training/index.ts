/** Training: recipes over the Trainer port, as a job. */
export { TrainerClient } from '#core/training/trainer-client.ts';
export { checkTraining } from '#core/training/check.ts';
export { createTrainJob } from '#core/training/train-job.ts';
