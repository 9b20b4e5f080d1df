/** Runs before they are jobs: text → checked run → estimate → start. */
export { assign } from '#core/runs/assign.ts';
export { changed } from '#core/runs/changed.ts';
export { shellWord } from '#core/runs/command.ts';
export { checkRun, startRun } from '#core/runs/check.ts';
export { allPresets, removePreset, savePreset } from '#core/runs/presets.ts';
