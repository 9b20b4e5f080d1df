import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatModel, LoadOptions } from '#core/llm/port.ts';
import { measuredWhileBusy } from '#shared/schema/model.ts';
import { modelIdSchema } from '#shared/ids.ts';
import { writeGguf } from './gguf/write-gguf.ts';
import type { GgufValue } from './gguf/write-gguf.ts';
import type { GenerateRequest } from './port.ts';
import { writeRandomGguf } from './random-gguf.ts';
import { testModelService } from '#test/helpers/model-service.ts';
import type { TestService } from '#test/helpers/model-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'daydream-service-'));
const file = join(folder, 'random-weights-a.gguf');
const load: LoadOptions = { adapters: [], contextTokens: 512, sequences: 2, threads: 0, format: 'auto' };
let host: TestService;

beforeAll(() => {
  writeRandomGguf(file, { seed: 5 });
  host = testModelService({ threads: () => 0, idleMs: 50 });
});
afterAll(async () => {
  await host.service.dispose();
  rmSync(folder, { recursive: true, force: true });
});

describe('finding models', () => {
  it('registers a path on first use, by the hash of its content', async () => {
    const model = await host.service.resolve(file);
    expect(model.modelId).toBe(model.sha256?.slice(0, 16));
    expect(await host.service.resolve(model.modelId)).toEqual(model);
    expect(await host.service.list()).toHaveLength(1);
  });

  it('lists every GGUF of a folder, broken ones with their problem', async () => {
    const models = join(folder, 'models', 'deep');
    mkdirSync(models, { recursive: true });
    writeRandomGguf(join(models, 'random-weights-b.gguf'), { seed: 6 });
    writeFileSync(join(models, 'cut.gguf'), readFileSync(file).subarray(0, 50_000));
    writeFileSync(join(models, 'notes.txt'), 'no model');
    const added = await host.service.add(join(folder, 'models'));
    expect(added.map(({ name, problem }) => [name, problem?.code])).toEqual([
      ['cut.gguf', 'MODEL_FILE_TRUNCATED'],
      ['random-weights-b', undefined],
    ]);
    await expect(host.service.resolve(join(models, 'cut.gguf'))).rejects.toMatchObject({
      code: 'MODEL_FILE_TRUNCATED',
    });
  });

  it('keeps name and place of the application’s own model when a copy of it is added', async () => {
    const bundled = join(folder, 'own', 'random-weights-own.gguf');
    mkdirSync(join(folder, 'own'));
    writeRandomGguf(bundled, { seed: 12 });
    const copy = join(folder, 'copy.gguf');
    copyFileSync(bundled, copy);
    const { service } = testModelService({ bundled });
    try {
      await service.add(copy);
      const [own] = await service.add(bundled);
      expect(await service.add(copy)).toEqual([own]);
      expect(await service.resolve(copy)).toEqual(own);
      expect(await service.resolve('random-weights-own')).toEqual(own);
      rmSync(bundled);
      expect((await service.add(copy)).map(({ location }) => location)).toEqual([copy]);
    } finally {
      await service.dispose();
    }
  });

  it('says what is missing', async () => {
    await expect(host.service.resolve(join(folder, 'nowhere.gguf'))).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    await expect(host.service.resolve('abc')).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
    await expect(host.service.resolve('scripted:nobody')).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
    await expect(host.service.fit(modelIdSchema.parse('abc'), load)).rejects.toMatchObject({
      code: 'MODEL_NOT_FOUND',
    });
    mkdirSync(join(folder, 'empty'));
    await expect(host.service.add(join(folder, 'empty'))).rejects.toMatchObject({ code: 'MODEL_NOT_FOUND' });
  });

  it('marks a model whose file is gone and refuses to load it', async () => {
    const gone = join(folder, 'random-weights-gone.gguf');
    writeRandomGguf(gone, { seed: 9 });
    const model = await host.service.resolve(gone);
    rmSync(gone);
    const listed = (await host.service.list()).find(({ modelId }) => modelId === model.modelId);
    expect(listed?.problem?.code).toBe('FILE_NOT_FOUND');
    await expect(host.service.load(model, load)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});

describe('loading models', () => {
  it('does not list as fine an architecture that llama.cpp does not know', async () => {
    const strange = join(folder, 'strange', 'strange.gguf');
    mkdirSync(join(folder, 'strange'));
    writeGguf(strange, {
      metadata: new Map<string, GgufValue>([
        ['general.architecture', { type: 'string', value: 'daydreamer' }],
        ['daydreamer.block_count', { type: 'uint32', value: 2 }],
      ]),
      tensors: [],
    });
    const refusal = {
      code: 'MODEL_UNSUPPORTED',
      message: expect.stringMatching(
        /strange\.gguf.*"daydreamer", which the bundled llama.cpp does not know/,
      ) as string,
    };
    await expect(host.service.resolve(strange)).rejects.toMatchObject(refusal);
    const [listed] = await host.service.add(join(folder, 'strange'));
    expect(listed?.problem).toMatchObject(refusal);
    // An older version took it in as fine.
    const known = await host.service.resolve(file);
    if (listed === undefined || known.facts === null) throw new Error('not added');
    const model = { ...listed, problem: null, facts: { ...known.facts, architecture: 'daydreamer' } };
    host.models.upsert(model);
    const now = (await host.service.list()).find(({ modelId }) => modelId === model.modelId);
    expect(now?.problem).toMatchObject(refusal);
    await expect(host.service.load(model, { ...load, threads: 1 })).rejects.toMatchObject(refusal);
    // 0: the threads are measured first, which loads the file, too.
    await expect(host.service.load(model, { ...load, threads: 0 })).rejects.toMatchObject(refusal);
  });

  it('does not list as fine a file that does not say its layers', async () => {
    const empty = join(folder, 'no-layers.gguf');
    writeGguf(empty, {
      metadata: new Map([['general.architecture', { type: 'string', value: 'zzzzz' }]]),
      tensors: [],
    });
    await expect(host.service.resolve(empty)).rejects.toMatchObject({
      code: 'MODEL_UNSUPPORTED',
      message: expect.stringMatching(/no-layers\.gguf.*"zzzzz"/) as string,
    });
  });

  it('measures threads once and keeps the result', async () => {
    const model = await host.service.resolve(file);
    const loaded = await host.service.load(model, load);
    const calibration = await host.service.calibration(model.modelId);
    expect(calibration?.trials.every(({ tokensPerSecond }) => tokensPerSecond > 0)).toBe(true);
    expect(loaded.model.info.threads).toBe(calibration?.threads);
    expect(await host.service.calibrate(model.modelId, { force: false })).toBe(calibration);
    await loaded.release();
  });

  it('notes how busy the machine was, the worse of before and after, and measures again when asked', async () => {
    const looks = [0.2, 1.7, 0.1, 0.3];
    const busy = testModelService({ busyCores: () => Promise.resolve(looks.shift() ?? Number.NaN) });
    const model = await busy.service.resolve(file);
    const noted = await busy.service.calibrate(model.modelId, { force: false });
    expect(noted.busyCores).toBe(1.7);
    expect(measuredWhileBusy(noted)).toBe(true);
    const quiet = await busy.service.calibrate(model.modelId, { force: true });
    expect(quiet.busyCores).toBe(0.3);
    expect(measuredWhileBusy(quiet)).toBe(false);
    await busy.service.dispose();
  });

  it('shares one load between users and unloads it when idle', async () => {
    const model = await host.service.resolve(file);
    const options = { ...load, threads: 1 };
    const [first, second] = await Promise.all([
      host.service.load(model, options),
      host.service.load(model, options),
    ]);
    expect(second.model).toBe(first.model);
    expect(host.service.status().loaded).toContainEqual(
      expect.objectContaining({ name: 'random-weights-a', users: 2 }),
    );
    const unloaded = new Promise<void>((resolve) => {
      const stop = host.service.onStatus(({ loaded }) => {
        if (loaded.length > 0) return;
        stop();
        resolve();
      });
    });
    const told: number[] = [];
    host.service.onStatus(({ loaded }) => told.push(loaded.reduce((sum, { users }) => sum + users, 0)));
    await first.release();
    await first.release();
    await second.release();
    expect(told).toEqual([1, 0]);
    await unloaded;
  });
});

describe('a model that several use', () => {
  const say = (loaded: { model: ChatModel }) =>
    loaded.model.generate({
      messages: [{ role: 'user', content: 'look' }],
      sessionKey: 's',
      n: 1,
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
      seed: 1,
      maxTokens: 2,
      format: 'auto',
    });

  it('is not unloaded or removed under its user, and does not come back after it was unloaded', async () => {
    const own = testModelService();
    const model = await own.service.resolve(file);
    const loaded = await own.service.load(model, load);
    await expect(own.service.unload(model.modelId)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(own.service.remove(model.modelId)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await say(loaded)).generations).toHaveLength(1);
    await loaded.release();
    expect(await own.service.unload(model.modelId)).toBe(true);
    expect(own.service.status().loaded).toEqual([]);
    await expect(say(loaded)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await own.service.unload(model.modelId)).toBe(false);
    const again = await own.service.load(model, load);
    expect((await say(again)).generations).toHaveLength(1);
    await own.service.dispose();
  });

  it('is loaded for the second when the first gives up while threads are measured', async () => {
    const own = testModelService({ threads: () => 0 });
    const model = await own.service.resolve(file);
    const first = new AbortController();
    const both = [
      own.service.load(model, { ...load, signal: first.signal }),
      own.service.load(model, { ...load, signal: new AbortController().signal }),
    ];
    first.abort(new Error('given up'));
    const [left, stayed] = await Promise.allSettled(both);
    expect(left).toMatchObject({ status: 'rejected', reason: { message: 'given up' } });
    expect(stayed?.status).toBe('fulfilled');
    expect(own.service.status().loaded).toHaveLength(1);
    await own.service.dispose();
  });

  it('is left loading by who gives up, and ends as an idle one', async () => {
    const own = testModelService({ idleMs: 20 });
    const model = await own.service.resolve(file);
    const seen: number[] = [];
    own.service.onStatus(({ loaded }) => seen.push(loaded.length));
    const waiting = own.service.load(model, { ...load, signal: AbortSignal.timeout(1) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(own.service.status().loaded).toEqual([]);
    await expect.poll(() => seen.includes(1), { timeout: 10_000 }).toBe(true);
    await expect.poll(() => own.service.status().loaded, { timeout: 10_000 }).toEqual([]);
    await own.service.dispose();
  });
});

it('says of a file whose weights are damaged that it is the file', async () => {
  const damaged = join(folder, 'random-weights-damaged.gguf');
  writeRandomGguf(damaged, { seed: 5 });
  const bytes = readFileSync(damaged);
  bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 4000);
  writeFileSync(damaged, bytes);
  const loaded = await host.service.load(await host.service.resolve(damaged), load);
  const asked = loaded.model.generate({
    messages: [{ role: 'user', content: 'You see a desk.' }],
    sessionKey: 'damaged',
    n: 1,
    sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
    seed: 1,
    maxTokens: 4,
    format: 'auto',
  });
  await expect(asked).rejects.toMatchObject({
    code: 'MODEL_FILE_INVALID',
    message: expect.stringContaining('damaged'),
  });
  await loaded.release();
});

it('names the tensor that a file lacks', async () => {
  const lacking = join(folder, 'random-weights-lacking.gguf');
  writeRandomGguf(lacking, { seed: 6 });
  const bytes = readFileSync(lacking);
  bytes.write('blk.1.attn_x', bytes.indexOf('blk.1.attn_q.weight'));
  writeFileSync(lacking, bytes);
  const known = await host.service.resolve(lacking);
  const failure: unknown = await host.service.load(known, load).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({
    code: 'MODEL_FILE_INVALID',
    message: expect.stringContaining('blk.1.attn_q.weight') as string,
  });
  expect(failure).not.toMatchObject({ message: expect.stringContaining('adapter') as string });
});

describe('scripted models', () => {
  it('take one of the listed actions at random, reproducibly', async () => {
    const model = await host.service.resolve('scripted:random');
    const loaded = await host.service.load(model, { ...load, contextTokens: 8192 });
    const request = (seed: number): GenerateRequest => ({
      messages: [
        {
          role: 'user',
          content: 'You see a desk.\n\nAdmissible actions:\n- look\n- go to desk 1\n- inventory',
        },
      ],
      sessionKey: 's',
      n: 40,
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
      seed,
      maxTokens: 64,
      stop: ['</action>'],
      format: 'auto',
    });
    const ask = (seed: number) => loaded.model.generate(request(seed));
    const first = await ask(1);
    expect(await ask(1)).toMatchObject({ generations: first.generations, evaluatedPromptTokens: 0 });
    const texts = new Set(first.generations.map(({ text }) => text));
    // No limit cuts who reads nothing.
    const short = await loaded.model.generate({ ...request(1), maxPromptTokens: 5 });
    expect(short.generations).toEqual(first.generations);
    // A compact prompt lists nothing.
    const compact = await loaded.model.generate({
      ...request(2),
      messages: [{ role: 'user', content: 'You see a desk.' }],
      admissible: ['look', 'open desk 1'],
    });
    expect(new Set(compact.generations.map(({ text }) => text))).toEqual(
      new Set(['<action>look</action>', '<action>open desk 1</action>']),
    );
    expect(texts).toEqual(
      new Set(['<action>look</action>', '<action>go to desk 1</action>', '<action>inventory</action>']),
    );
  });

  it('answer with a script of the test', async () => {
    const scripted = testModelService({
      scripts: { loud: (request) => (request.messages.at(-1)?.content ?? '').toUpperCase() },
    });
    const loaded = await scripted.service.load(await scripted.service.resolve('scripted:loud'), load);
    const { generations } = await loaded.model.generate({
      messages: [{ role: 'user', content: 'look' }],
      sessionKey: 's',
      n: 1,
      sampling: { temperature: 1, topK: 0, topP: 1, minP: 0 },
      seed: 1,
      maxTokens: 10,
      format: 'auto',
    });
    expect(generations[0]).toMatchObject({ text: 'LOOK', stopReason: 'end' });
    await scripted.service.dispose();
  });
});
