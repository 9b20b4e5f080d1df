/** Sound rows and a whole manifest, to be spoilt one field at a time. */
import type { DatasetContent } from '#core/datasets/index.ts';
import type { Manifest, SftRow } from '#shared/schema/dataset.ts';
import { manifestSchema } from '#shared/schema/dataset.ts';

export function soundRow(index = 0, meta: Partial<SftRow['meta']> = {}): SftRow {
  return {
    id: `il-${String(index)}`,
    messages: [
      { role: 'system', content: 'You act.' },
      { role: 'user', content: `State ${String(index)}` },
      { role: 'assistant', content: '<action>look</action>' },
    ],
    meta: {
      kind: 'il',
      environment: 'household-small',
      task_id: 't',
      task_type: 'pick',
      split: 'train',
      episode_id: 'e',
      step: index,
      action: 'look',
      source: 'solver',
      valid: true,
      branch_ids: [],
      reflection_id: null,
      completion_tokens: null,
      ...meta,
    },
  };
}

export function wholeManifest(): Manifest {
  return manifestSchema.parse({
    format: 'daydream-early-experience/1',
    createdAt: '2026-01-01T00:00:00.000Z',
    application: { name: 'daydream', version: '0.0.0' },
    jobId: null,
    configSha256: 'c'.repeat(64),
    config: {},
    seed: 1,
    profile: 'default',
    deviations: [{ label: 'constant-k', reason: 'K is constant.' }],
    environments: [
      { id: 'household-small', version: '1', dataChecksum: 'd'.repeat(64), licence: 'Apache-2.0' },
    ],
    models: [{ role: 'policy', label: 'm', sha256: null }],
    splits: ['train'],
    tasks: 1,
    demonstrations: 1,
    states: 3,
    branches: {
      executed: 3,
      accepted: 3,
      rejected: 0,
      invalid: 1,
      inadmissible: 0,
      sameAsExpert: 0,
      refilled: 0,
    },
    filters: [],
    files: [],
  });
}

/** What a caller of the writer knows of such a data set. */
export function wholeContent(): DatasetContent {
  return { manifest: wholeManifest(), candidates: () => null };
}
