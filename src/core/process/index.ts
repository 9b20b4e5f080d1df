export { createNodeSpawner } from './node-spawner.ts';
export { physicalCores, trainingThreads } from './cores.ts';
export { Supervisor } from './supervisor.ts';
export type { WorkerState } from './supervisor.ts';
