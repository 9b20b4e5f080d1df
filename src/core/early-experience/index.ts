/** Early Experience (arXiv 2510.08558), the data side: demonstrations, real branches, IWM triples, reflections, data sets. */
export { exportAgain } from '#core/early-experience/export.ts';
export { checkImport } from '#core/early-experience/import-lines.ts';
export { iwmMessages } from '#core/early-experience/iwm.ts';
export { createEarlyExperienceJobs } from '#core/early-experience/pipeline-job.ts';
export { exportedTexts, markBranches } from '#core/early-experience/marks.ts';
export { modelNeeds, samplesOf } from '#core/early-experience/model-needs.ts';
export { deviationsOf, withProfile, writesReflections } from '#core/early-experience/profile.ts';
export type { FamilyOf } from '#core/early-experience/profile.ts';
export { expertPromptShortage } from '#core/early-experience/prompt-limit.ts';
export { reflectionMessages, reflectionPrompt } from '#core/early-experience/reflection.ts';
export { recordedGames } from '#core/early-experience/recorded-games.ts';
export { splitProblem } from '#core/early-experience/training-split.ts';
