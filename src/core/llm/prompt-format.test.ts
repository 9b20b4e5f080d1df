import { expect, test } from 'vitest';
import type { GgufFacts } from '#shared/schema/model.ts';
import { promptFormat } from './prompt-format.ts';

const file = (hasChatTemplate: boolean) => ({
  kind: 'gguf' as const,
  facts: { hasChatTemplate } as GgufFacts,
});

test('a file is prompted as the run says, and by its template where the run leaves it open', () => {
  expect(promptFormat(file(true), 'auto')).toBe('chat');
  expect(promptFormat(file(false), 'auto')).toBe('completion');
  expect(promptFormat(file(true), 'completion')).toBe('completion');
  expect(promptFormat(file(false), 'chat')).toBe('chat');
});

test('a server and a script have one way, whatever the run says', () => {
  expect(promptFormat({ kind: 'http', facts: null }, 'completion')).toBe('chat');
  expect(promptFormat({ kind: 'scripted', facts: null }, 'completion')).toBe('chat');
});

test('of a model that is gone, what the run says is all there is', () => {
  expect(promptFormat(null, 'completion')).toBe('completion');
  expect(promptFormat(null, 'auto')).toBe('chat');
});
