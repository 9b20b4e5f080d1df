export { createJobEngine } from '#core/jobs/engine.ts';
