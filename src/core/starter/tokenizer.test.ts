import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel, ModelMessage } from '#core/llm/port.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';
import { encodeConversation } from './chat-format.ts';
import { initialWeights } from './initial-weights.ts';
import { writeStarterGguf } from './model-file.ts';
import { createTokenizer, parseTokenizer } from './tokenizer.ts';
import { trainTokenizer } from './train-tokenizer.ts';

const corpus = [
  'You arrive at countertop 1. On the countertop 1, you see a mug 1, a mug 2, and a bread 1.',
  'You arrive at drawer 12. The drawer 12 is closed.\n\nYour task is to: put a mug in drawer.',
  '<action>take mug 1 from countertop 1</action>',
  'take mug 2 from countertop 3\nopen drawer 1\ngo to countertop 1\n- look\n- inventory  (twice)',
  'beginning with “Observation:”, the world’s own — naïve façade, Ελληνικά ελληνικά ελληνικά',
];
const training = { vocabularySize: 415, minimumCharacterCount: 3 };
const tokenizer = trainTokenizer(corpus, training);

const folder = mkdtempSync(join(tmpdir(), 'daydream-starter-'));
const shape = {
  layers: 1,
  dim: 32,
  feedForward: 64,
  heads: 2,
  keyValueHeads: 1,
  contextLength: 1024,
  tied: true,
};
let host: TestService;
let model: ChatModel;

beforeAll(async () => {
  const file = join(folder, 'starter.gguf');
  const description = 'untrained, for a test';
  const weights = initialWeights({ seed: 1, layers: 1, heads: 2, previousTokens: 1 });
  writeStarterGguf(file, { name: 'starter', description, shape, tokenizer, type: 'F16', weights });
  host = testModelService();
  const known = await host.service.resolve(file);
  const options = { adapters: [], contextTokens: 1024, sequences: 1, threads: 1, format: 'auto' } as const;
  model = (await host.service.load(known, options)).model;
});
afterAll(async () => {
  await host.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Words of the corpus among spaces, marks, tags and any other character. */
const textArbitrary = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...corpus.flatMap((text) => text.split(/(?<=\s)|(?=\s)/u))) },
      fc.constantFrom(' ', '  ', '\n', '▁', '▁▁', '\t', '<action>', '</action>', '<think>', '<', '<|end|>'),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

describe('the tokenizer', () => {
  it('gives llama.cpp’s ids for any text', async () => {
    await fc.assert(
      fc.asyncProperty(textArbitrary, async (text) => {
        expect(tokenizer.encode(text)).toEqual(await model.tokenize(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives the ids that the inference worker makes of a conversation', async () => {
    const content = textArbitrary.filter((text) => !text.includes('mark-'));
    await fc.assert(
      fc.asyncProperty(content, content, content, async (system, user, assistant) => {
        const messages: ModelMessage[] = [
          { role: 'system', content: system },
          { role: 'user', content: user },
          { role: 'assistant', content: assistant },
          { role: 'user', content: 'What is observed after this action?' },
        ];
        const result = await model.generate({
          messages,
          sessionKey: 'conversation',
          n: 1,
          sampling: { temperature: 0, topK: 0, topP: 1, minP: 0 },
          seed: 1,
          maxTokens: 1,
          format: 'auto',
        });
        const ours = encodeConversation(messages, tokenizer, { generationPrompt: true });
        expect(ours.ids).toEqual(result.promptTokens);
        messages.forEach((message, index) => {
          const { start, end } = ours.spans[index] ?? { start: 0, end: 0 };
          expect(tokenizer.decode(ours.ids.slice(start, end - 1))).toBe(message.content.replaceAll('▁', ' '));
        });
      }),
      { numRuns: 100 },
    );
  });

  it('gives back the text, whatever it is', () => {
    fc.assert(
      fc.property(textArbitrary, (text) => {
        // A lone surrogate has no UTF-8, and a written `▁` is a space to this kind of vocabulary.
        const expected = text.toWellFormed().replaceAll('▁', ' ');
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('says the same word with the same token in a task, a name and an action', () => {
    const mug = tokenizer.idOf('▁mug');
    for (const text of ['put a mug in', 'a mug 1, and', '<action>take mug 2 from', 'see a mug.']) {
      expect(tokenizer.encode(text)).toContain(mug);
    }
  });

  it('keeps numbers in digits, and never joins a word with what stands beside it', () => {
    const texts = tokenizer.encode('drawer 12.').map((id) => tokenizer.vocabulary.tokens[id]);
    expect(texts.slice(-3)).toEqual(['▁1', '2', '.']);
  });

  it('takes control tokens only where they are asked for', () => {
    expect(tokenizer.encode('<|end|>', { special: true })).toEqual([tokenizer.idOf('<|end|>')]);
    expect(tokenizer.encode('<|end|>').length).toBeGreaterThan(3);
    expect(tokenizer.decode([1, tokenizer.idOf('<|user|>')])).toBe('');
    expect(tokenizer.decode([1, tokenizer.idOf('<|user|>')], { special: true })).toBe('<s><|user|>');
  });

  it('is the same after being written and read', () => {
    const again = parseTokenizer(tokenizer.toJson());
    expect(again.vocabulary).toEqual(tokenizer.vocabulary);
  });

  it('refuses pieces that would let two words grow together', () => {
    expect(() =>
      parseTokenizer(JSON.stringify({ format: 'daydream-tokenizer', version: 1, pieces: ['a▁b'] })),
    ).toThrow(/pieces/);
    expect(() => createTokenizer(['a', 'a'])).toThrow('twice');
  });
});

describe('training a tokenizer', () => {
  it('gives the asked number of tokens, the same each time', () => {
    expect(tokenizer.size).toBe(training.vocabularySize);
    expect(trainTokenizer(corpus, training).vocabulary).toEqual(tokenizer.vocabulary);
  });

  it('joins the most frequent pair first', () => {
    const first = trainTokenizer(['aab aab aab xy'], { vocabularySize: 364, minimumCharacterCount: 1 });
    expect(first.vocabulary.tokens.slice(267, 269)).toEqual(['aa', 'aab']);
  });

  it('says so when the corpus has too little variety', () => {
    expect(() => trainTokenizer(['a b'], { vocabularySize: 2000, minimumCharacterCount: 1 })).toThrow(
      'Give more text or a smaller vocabulary',
    );
  });
});

describe('the model file', () => {
  it('names the model, its licence and its half-precision weights', async () => {
    const { facts, model: known } = model.info;
    expect(known.name).toBe('starter');
    expect(facts).toMatchObject({ architecture: 'llama', quantisation: 'F16', contextLength: 1024 });
    expect(readFileSync(known.location, 'latin1')).toContain('apache-2.0');
  });
});
