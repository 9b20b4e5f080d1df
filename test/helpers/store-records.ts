/** Complete records for tests of the store, with every field set to something that a default would not give. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock, Logger } from '#core/ports.ts';
import type { Branch, Reflection } from '#shared/schema/branch.ts';
import { branchSchema, reflectionSchema } from '#shared/schema/branch.ts';
import type { Episode, Step } from '#shared/schema/episode.ts';
import { episodeSchema, stepSchema } from '#shared/schema/episode.ts';

export const silentLog: Logger = {
  debug() {
    // Tests read results, not logs.
  },
  info() {
    // As above.
  },
  warn() {
    // As above.
  },
  error() {
    // As above.
  },
};

export function fixedClock(start = 1_700_000_000_000): Clock & { advance(ms: number): void } {
  let now = start;
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

export function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function temporaryFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(path.join(tmpdir(), 'daydream-store-'));
  return {
    folder,
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function makeEpisode(index: number, overrides: { [Field in keyof Episode]?: unknown } = {}): Episode {
  return episodeSchema.parse({
    episodeId: `episode-${index}`,
    jobId: null,
    purpose: 'rollout',
    environmentId: 'household',
    environmentVersion: '1.0.0',
    dataChecksum: sha('data'),
    taskId: `task-${index % 7}`,
    taskType: 'pick-and-place',
    split: 'train',
    instruction: `put a clean mug ${index % 7} in the cabinet`,
    policy: {
      kind: 'model',
      modelId: 'model-1',
      modelSha256: sha('model'),
      adapterSha256: [sha('adapter')],
      chatTemplateHash: sha('template'),
      settings: { temperature: 0.4, history: { style: 'append' } },
    },
    policyKey: 'policy-1',
    policyLabel: 'Small model',
    seed: 11,
    rolloutIndex: 2,
    status: 'running',
    endReason: null,
    success: false,
    totalReward: 0,
    steps: 0,
    invalidActions: 0,
    parseFailures: 1,
    promptTokens: 10,
    evaluatedPromptTokens: 8,
    completionTokens: 6,
    modelMs: 5,
    environmentMs: 4,
    retries: 3,
    attempt: 1,
    replacedBy: null,
    initialObservation: 'You are in the middle of a room.',
    initialAdmissible: ['look', 'go to desk 1'],
    error: null,
    startedAt: 1_700_000_000_000 + index,
    finishedAt: null,
    ...overrides,
  });
}

export function makeStep(
  episodeId: string,
  stepIndex: number,
  overrides: { [Field in keyof Step]?: unknown } = {},
): Step {
  return stepSchema.parse({
    episodeId,
    stepIndex,
    promptHash: sha(`prompt ${stepIndex}`),
    tokens: {
      promptPrefixLength: 3,
      promptTokens: [1, 65_536, 4_294_967_295],
      completionTokens: [7, 8],
      logprobs: [-0.5, Math.fround(-1.1)],
      evaluatedPromptTokens: 2,
    },
    completion: '<think>Look first.</think><action>look</action>',
    thought: 'Look first.',
    action: 'look',
    parseStatus: 'ok',
    valid: true,
    observation: `You see step ${stepIndex}.`,
    admissible: ['look', 'inventory'],
    observationHash: sha(`observation ${stepIndex}`),
    reward: 0.25,
    terminated: false,
    truncated: false,
    error: null,
    modelMs: 12,
    environmentMs: 1,
    createdAt: 1_700_000_000_500 + stepIndex,
    ...overrides,
  });
}

export function makeBranch(
  episodeId: string,
  stepIndex: number,
  index: number,
  overrides: { [Field in keyof Branch]?: unknown } = {},
): Branch {
  return branchSchema.parse({
    branchId: `branch-${episodeId}-${stepIndex}-${index}`,
    episodeId,
    stepIndex,
    jobId: 'job-1',
    purpose: 'iwm',
    source: 'uniform',
    alternativeIndex: index,
    action: `Go to desk ${index}`,
    canonicalAction: `go to desk ${index}`,
    admissible: true,
    valid: true,
    observation: `Desk ${index} is empty.`,
    sameAsExpert: false,
    reward: 0,
    terminated: false,
    truncated: false,
    success: false,
    status: 'accepted',
    rejectReason: null,
    proof: {
      method: 'snapshot',
      expectedHash: sha('state'),
      observedHash: sha('state'),
      prefixLength: stepIndex,
    },
    proposal: {
      modelId: 'model-1',
      raw: 'go to desk',
      completionTokens: [4, 5],
      logprobs: [-0.25, -2],
      temperature: 1,
    },
    error: null,
    createdAt: 1_700_000_001_000,
    ...overrides,
  });
}

export function makeReflection(
  episodeId: string,
  index: number,
  overrides: { [Field in keyof Reflection]?: unknown } = {},
): Reflection {
  return reflectionSchema.parse({
    reflectionId: `reflection-${episodeId}-${index}`,
    episodeId,
    stepIndex: index,
    jobId: 'job-1',
    branchIds: [`branch-${episodeId}-${index}-0`],
    expertAction: 'open drawer 1',
    text: 'The drawer may hold the key, the desk was empty.',
    prompt: 'Write why.',
    raw: 'raw text',
    generatorModelId: 'model-1',
    generatorLabel: 'Small model',
    completionTokens: [1, 2, 3],
    logprobs: [-1, -2, -0.5],
    attempt: 0,
    flags: [],
    keptByFilters: true,
    droppedBy: [],
    review: { decision: 'pending', reason: '', at: null },
    createdAt: 1_700_000_002_000,
    ...overrides,
  });
}
