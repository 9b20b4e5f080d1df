import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { modelSchema } from '#shared/schema/model.ts';
import type { Model } from '#shared/schema/model.ts';
import { readyPreset } from './preset-run.ts';

function model(name: string, sizeBytes: number, change: object = {}): Model {
  return modelSchema.parse({
    modelId: `id-of-${name}`,
    kind: 'gguf',
    name,
    location: `/models/${name}.gguf`,
    remoteName: null,
    sizeBytes,
    sha256: 'a'.repeat(64),
    facts: null,
    problem: null,
    addedAt: 0,
    ...change,
  });
}
const starter = model('starter', 1);
const small = model('small', 100);
const large = model('large', 900);
const open = "kind: early-experience\npolicy:\n  model: '' # yours\n";
const quick = 'kind: rollout\npolicy:\n  model: starter\n';
const modelIn = (yaml: string) => (parse(yaml) as { policy: { model: string } }).policy.model;

it('leaves a preset its own model, whichever others are smaller', () => {
  const tiny = model('tiny', 0);
  expect(readyPreset(quick, [tiny, starter, large], 'starter')).toEqual({
    yaml: quick,
    model: starter,
    chosen: false,
    own: false,
  });
});

it('fills an open one with the smallest usable model, the bundled one only where there is no other', () => {
  const broken = model('broken', 2, { problem: { code: 'MODEL_FILE_INVALID', message: 'cut', data: {} } });
  const server = model('server', 0, { kind: 'http' });
  const ready = readyPreset(open, [starter, server, large, broken, small], 'starter');
  expect(ready).toMatchObject({ model: small, chosen: true, own: true });
  expect(modelIn(ready.yaml)).toBe(small.modelId);
  expect(readyPreset(open, [starter], 'starter')).toMatchObject({
    model: starter,
    chosen: true,
    own: false,
  });
});

it('takes a model that was made from the bundled one for no model of the user', () => {
  const header = {
    architecture: 'llama',
    name: 'Starter',
    parameters: 1,
    quantisation: 'F16',
    layers: 1,
    contextLength: 1,
    embeddingLength: 1,
    vocabularySize: 1,
    hasChatTemplate: true,
    chatTemplateHash: null,
  };
  const base = model('starter', 9, { facts: header });
  const merged = model('merged', 2, { facts: header });
  const other = model('other', 8, { facts: { ...header, name: 'Other' } });
  expect(readyPreset(open, [base, merged], 'starter')).toMatchObject({ model: base, own: false });
  expect(readyPreset(open, [base, merged, other], 'starter')).toMatchObject({ model: other, own: true });
  expect(readyPreset(quick, [base, merged, other], 'starter')).toMatchObject({ model: base, own: false });
});

it('starts by chance where its model is not there', () => {
  for (const yaml of [open, quick]) {
    const ready = readyPreset(yaml, [], 'starter');
    expect(ready.model).toBeNull();
    expect(modelIn(ready.yaml)).toBe('scripted:random');
  }
});
