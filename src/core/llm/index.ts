export { findModel } from './find-model.ts';
export { createModelService } from './service.ts';
export type { ModelServiceOptions, SecretStore } from './service.ts';
export { writeRandomGguf } from './random-gguf.ts';
export { llamaMetadata, llamaTensors } from './gguf/llama.ts';
export type { LlamaShape } from './gguf/llama.ts';
export { writeGguf } from './gguf/write-gguf.ts';
