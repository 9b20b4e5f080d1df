import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Split } from '#shared/schema/environment.ts';
import { agentMessages } from '#core/agents/index.ts';
import { rooms } from '#core/environments/household/content.ts';
import { createHouseholdProvider } from '#core/environments/household/provider.ts';
import type { EnvironmentProvider, EnvironmentSession } from '#core/environments/port.ts';
import { documentKinds, encodeDocument } from './document.ts';
import type { DocumentKind, TextDocument } from './document.ts';
import { createDocumentSource, defaultDocuments } from './documents.ts';
import { generateShards, vocabularyOf } from './generate.ts';
import { readShard } from './shards.ts';

/** A provider that notes which tasks are opened and which sessions succeed. */
function watched(provider: EnvironmentProvider) {
  const opened: { split: Split; succeeded: boolean }[] = [];
  const watching: EnvironmentProvider = {
    ...provider,
    async open(options) {
      const session = await provider.open(options);
      const note = { split: session.task.split, succeeded: false };
      opened.push(note);
      const step: EnvironmentSession['step'] = async (action, rest) => {
        const outcome = await session.step(action, rest);
        note.succeeded ||= outcome.success;
        return outcome;
      };
      return new Proxy(session, {
        get: (target, key) => {
          if (key === 'solve') throw new Error('the expert was asked');
          const value: unknown = key === 'step' ? step : Reflect.get(target, key, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
  return { provider: watching, opened };
}

const small = watched(createHouseholdProvider('household-small'));
const large = watched(createHouseholdProvider('household'));
const options = {
  ...defaultDocuments,
  seed: 1,
  stream: 'test',
  play: [
    { provider: small.provider, share: 1 },
    { provider: large.provider, share: 1 },
  ],
};
const documents: TextDocument[] = [];
const source = createDocumentSource(options);
const count = 400;
for (let index = 0; index < count; index += 1) {
  const before = small.opened.length + large.opened.length;
  documents.push(await source.document(index));
  const opened = [...small.opened, ...large.opened].length - before;
  const last = documents.at(-1)?.world === 'household' ? large.opened.at(-1) : small.opened.at(-1);
  if (opened > 0 && last?.succeeded === true) throw new Error(`document ${String(index)} shows a success`);
}
const text = documents.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n');
const tokenizer = await vocabularyOf(source, { documents: count, vocabularySize: 1024 });
const ofKind = (kind: DocumentKind): TextDocument[] => documents.filter((document) => document.kind === kind);

const folder = mkdtempSync(path.join(tmpdir(), 'daydream-shards-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the pre-training text', () => {
  it('plays train tasks only, asks no expert, and shows no success', () => {
    const opened = [...small.opened, ...large.opened];
    expect(opened.length).toBeGreaterThan(100);
    expect(new Set(opened.map(({ split }) => split))).toEqual(new Set(['train']));
    // Some walks do succeed by chance: those were refused, which the loop above checks for every document.
    expect(documents.every(({ world }) => ['errand', 'household', 'household-small'].includes(world))).toBe(
      true,
    );
  });

  it('names nothing that only held-out rooms have, and no wish of another split', () => {
    const all = Object.values(rooms);
    const known = new Set(
      all.flatMap((room) => [...Object.keys(room.known), ...room.small, ...room.smallExtras]),
    );
    const heldOut = all
      .flatMap((room) => [...Object.keys(room.heldOut), ...room.smallHeldOut, ...room.smallHeldOutExtras])
      .filter((name) => !known.has(name));
    expect(new Set(heldOut)).toEqual(new Set(['cart', 'ottoman', 'safe']));
    for (const name of heldOut) expect(text).not.toMatch(new RegExp(`\\b${name}\\b`, 'u'));
    for (const id of ['household', 'household-small'] as const) {
      const provider = createHouseholdProvider(id);
      const of = (split: Split): string[] =>
        provider.listTasks({ split }).tasks.map(({ instruction }) => instruction);
      const train = new Set(of('train'));
      const others = of('unseen').filter((instruction) => !train.has(instruction));
      expect(others.length).toBeGreaterThan(20);
      const mine = documents.filter(({ world }) => world === id).flatMap(({ messages }) => messages);
      const told = mine.map(({ content }) => content).join('\n');
      for (const instruction of others) expect(told).not.toContain(`Your task is to: ${instruction}`);
    }
  });

  it('has the policy’s own bytes', async () => {
    const provider = createHouseholdProvider('household-small');
    const task = provider.listTasks({ split: 'train', limit: 1 }).tasks[0]!;
    const observation = await (await provider.open({ taskId: task.taskId, seed: 0 })).reset();
    const { actionGuide } = provider.describe();
    const state = { instruction: task.instruction, actionGuide, history: [], observation };
    const systems = [true, false].map(
      (thought) =>
        agentMessages(state, { history: { style: 'append' }, style: 'compact', thought, fewShot: false })[0]
          ?.content,
    );
    const plays = ofKind('play').filter(({ messages }) => messages.length > 3);
    expect(new Set(plays.map(({ messages }) => messages[0]?.content))).toEqual(new Set(systems));
    for (const { messages } of plays)
      expect(messages[1]?.content).toMatch(/^-= Welcome to TextWorld, ALFRED! =-\n\n/u);
  });

  it('has targets in the forms of the data sets', () => {
    for (const { messages } of ofKind('prediction'))
      expect(messages.at(-1)?.content).toMatch(/^Observation: \S/u);
    for (const { messages } of ofKind('reflection')) {
      expect(messages.at(-1)?.content).toMatch(/^<think>[^<]+<\/think><action>[^<]+<\/action>$/u);
    }
    const answers = [...ofKind('errand'), ...ofKind('play')].flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'assistant'),
    );
    for (const { content } of answers)
      expect(content).toMatch(/^(?:<think>[^<]+<\/think>)?<action>[^<]+<\/action>$/u);
  });

  it('has every kind in about the asked share, and is mostly short', () => {
    const all = Object.values(defaultDocuments.mix).reduce((sum, share) => sum + share, 0);
    for (const kind of documentKinds)
      expect(ofKind(kind).length / count, kind).toBeCloseTo(defaultDocuments.mix[kind] / all, 1);
    const lengths = documents
      .map((document) => encodeDocument(document, tokenizer).ids.length)
      .toSorted((a, b) => a - b);
    expect(lengths[Math.floor(count * 0.75)]).toBeLessThan(700);
    expect(lengths[Math.floor(count * 0.98)]).toBeLessThan(1200);
  });

  it('is the same whatever was generated before', async () => {
    const again = createDocumentSource(options);
    for (const index of [301, 7, 64, 63]) expect(await again.document(index)).toEqual(documents[index]);
    const other = createDocumentSource({ ...options, stream: 'other' });
    expect(await other.document(7)).not.toEqual(documents[7]);
  });
});

describe('loss weights', () => {
  it('are 100 on what the agent writes, 30 on what it observes, 0 on the rest', () => {
    const document: TextDocument = {
      kind: 'errand',
      world: 'errand',
      messages: [
        { role: 'system', content: 'Carry out', weight: 0 },
        { role: 'user', content: 'You see', weight: 0.3 },
        { role: 'assistant', content: '<action>look</action>', weight: 1 },
      ],
    };
    const { ids, weights } = encodeDocument(document, tokenizer);
    const system = tokenizer.encode('Carry out').length;
    const user = tokenizer.encode('You see').length;
    const action = tokenizer.encode('<action>look</action>').length;
    const zeros = (length: number): number[] => Array.from({ length }, () => 0);
    expect([...weights]).toEqual([
      ...zeros(1 + 1 + system + 1),
      0,
      ...Array.from({ length: user + 1 }, () => 30),
      0,
      ...Array.from({ length: action + 1 }, () => 100),
    ]);
    expect(ids.length).toBe(weights.length);
  });

  it('spare the commands that are there to be refused', () => {
    const refused = ofKind('play').filter(({ messages }) =>
      messages.some(
        ({ content }, index) => content === 'Nothing happens.' && messages[index - 1]?.weight === 0,
      ),
    );
    expect(refused.length).toBeGreaterThan(5);
  });
});

describe('shards', () => {
  const recipe = { seed: 1 };
  const plan = (name: string, tokens: number) => ({
    folder: path.join(folder, name),
    tokens,
    tokensOfShard: 10_000,
    longestDocument: 700,
    recipe,
  });
  const signal = AbortSignal.any([]);

  it('are the same after a stop', async () => {
    await generateShards(source, tokenizer, plan('whole', 30_000), { signal });
    await generateShards(source, tokenizer, plan('parts', 10_000), { signal });
    const stop = new AbortController();
    const onShard = (): void => {
      stop.abort();
    };
    await expect(
      generateShards(source, tokenizer, plan('parts', 30_000), { signal: stop.signal, onShard }),
    ).rejects.toThrow('The same command goes on there.');
    await generateShards(source, tokenizer, plan('parts', 30_000), { signal });
    const files = readdirSync(path.join(folder, 'whole'));
    expect(files).toHaveLength(13);
    for (const file of files) {
      expect(readFileSync(path.join(folder, 'parts', file))).toEqual(
        readFileSync(path.join(folder, 'whole', file)),
      );
    }
  });

  it('hold the documents, without those that are too long', async () => {
    const manifest = await generateShards(source, tokenizer, plan('whole', 30_000), { signal });
    const shard = manifest.shards[0]!;
    const { ids, weights, offsets, kinds } = readShard(path.join(folder, 'whole'), shard);
    const expected = documents
      .map((document) => encodeDocument(document, tokenizer))
      .filter((document) => document.ids.length <= 700);
    expect(kinds).toHaveLength(shard.documents);
    for (const index of [0, shard.documents - 1]) {
      expect(ids.subarray(offsets[index], offsets[index + 1])).toEqual(expected[index]?.ids);
      expect(weights.subarray(offsets[index], offsets[index + 1])).toEqual(expected[index]?.weights);
    }
    expect(manifest.shards.reduce((sum, { skipped }) => sum + skipped, 0)).toBeGreaterThan(0);
  });

  it('refuse a folder of another recipe, and a damaged file', async () => {
    const other = { ...plan('whole', 40_000), recipe: { seed: 2 } };
    await expect(generateShards(source, tokenizer, other, { signal })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const manifest = await generateShards(source, tokenizer, plan('damaged', 10_000), { signal });
    truncateSync(path.join(folder, 'damaged', 'shard-00000.ids'), 100);
    expect(() => readShard(path.join(folder, 'damaged'), manifest.shards[0]!)).toThrow(
      'generate the text again',
    );
  });
});
