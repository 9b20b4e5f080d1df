export { serve } from './server.ts';
export { ensureRenderer, rendererState } from './renderer-build.ts';
