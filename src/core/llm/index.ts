export { createModelService } from './service.ts';
export type { ModelServiceOptions, SecretStore } from './service.ts';
export { writeRandomGguf } from './random-gguf.ts';
