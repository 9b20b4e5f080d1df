/** What other areas use of the environments. */
export { createEnvironmentRegistry } from './registry.ts';
export { checkConformance } from './conformance.ts';
export { observationHash } from './observation-hash.ts';
export { writeTasks } from './write-tasks.ts';
