import { expect, it } from 'vitest';
import { modelIdSchema } from '#shared/ids.ts';
import type { Model } from '#shared/schema/model.ts';
import { promptDefault } from './prompt-default.ts';

const model = (name: string, contextLength: number): Model => ({
  modelId: modelIdSchema.parse('a'),
  kind: 'gguf',
  name,
  location: `/models/${name}.gguf`,
  remoteName: null,
  sizeBytes: 1,
  sha256: null,
  facts: {
    architecture: 'llama',
    name: null,
    parameters: 1,
    quantisation: 'F16',
    layers: 1,
    contextLength,
    embeddingLength: 1,
    vocabularySize: 1,
    hasChatTemplate: true,
    chatTemplateHash: null,
  },
  problem: null,
  addedAt: 0,
});

it('takes the compact prompt, within the context, where the usual one does not fit', () => {
  const full = { prompt: 'full', thought: true, maxPromptTokens: 4096 };
  expect(promptDefault(null, { maxTokens: 256 })).toEqual(full);
  expect(promptDefault(model('large', 32_768), { maxTokens: 256 })).toEqual(full);
  expect(promptDefault(model('unknown', 0), { maxTokens: 256 })).toEqual(full);
  const short = { prompt: 'compact', thought: true, maxPromptTokens: 1792 };
  expect(promptDefault(model('short', 2048), { maxTokens: 256 })).toEqual(short);
  expect(promptDefault(model('daydream-starter', 2048), { maxTokens: 256 })).toEqual({
    ...short,
    thought: false,
  });
});
