import { expect, it } from 'vitest';
import { modelIdSchema } from '#shared/ids.ts';
import { httpModel } from './catalogue.ts';
import { findModel } from './find-model.ts';

const model = (id: string, name: string, location: string) => ({
  ...httpModel('http://localhost:1', 'm', 0),
  modelId: modelIdSchema.parse(id),
  name,
  location,
});
const a = model('a', 'small', '/models/a.gguf');
const b = model('b', 'twin', '/models/b.gguf');
const c = model('c', 'twin', '/models/c.gguf');
const confusing = model('d', 'a', 'twin');

it('takes an id, a place, or a name that only one model has', () => {
  expect(findModel([a, b, c], 'a', null)).toBe(a);
  expect(findModel([a, b, c], '/models/b.gguf', null)).toBe(b);
  expect(findModel([a, b, c], 'small', null)).toBe(a);
  expect(findModel([a, b, c], 'twin', null)).toBeNull();
  expect(findModel([a, b, c], 'nobody', null)).toBeNull();
});

it('believes an id before a place, and a place before a name, whatever the order', () => {
  expect(findModel([confusing, a], 'a', null)).toBe(a);
  expect(findModel([b, confusing], 'twin', null)).toBe(confusing);
});

it('means the application’s own model by its name, the newest of them', () => {
  const older = { ...model('e', 'twin', '/resources/twin.gguf'), addedAt: 1 };
  const newer = { ...model('f', 'twin', '/resources/twin.gguf'), addedAt: 2 };
  expect(findModel([b, older, newer, c], 'twin', '/resources/twin.gguf')).toBe(newer);
  expect(findModel([b, c], 'twin', '/resources/twin.gguf')).toBeNull();
});

it('takes what a server calls its model, when nothing else has that name and only one server has it', () => {
  const here = httpModel('http://localhost:1/v1', 'qwen', 0);
  const there = httpModel('http://localhost:2/v1', 'qwen', 0);
  const file = { ...model('g', 'qwen', '/models/qwen.gguf'), remoteName: null };
  expect(findModel([a, here], 'qwen', null)).toBe(here);
  expect(findModel([a, here], here.name, null)).toBe(here);
  expect(findModel([here, file], 'qwen', null)).toBe(file);
  expect(findModel([here, there], 'qwen', null)).toBeNull();
});
