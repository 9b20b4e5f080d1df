import { stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { environmentIdSchema, sha256Schema } from '#shared/ids.ts';
import { writeGguf, writeRandomGguf } from '#core/llm/index.ts';
import { selectTasks } from '#core/agents/index.ts';
import { taskSelectionSchema } from '#shared/schema/run.ts';
import { openTestApp } from '#test/helpers/app.ts';
import type { TestApp } from '#test/helpers/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
});
afterAll(() => test.dispose());

it('refuses to make training data of a split that models are measured on', async () => {
  const yaml =
    "kind: early-experience\nenvironment: { id: household-small, split: unseen, tasks: 1 }\npolicy: { model: 'scripted:random' }\n";
  const { problems } = await test.client.runs.check({ yaml });
  const wrong = problems.filter(({ path }) => path === 'environment.split');
  expect(wrong).toEqual([
    expect.objectContaining({ severity: 'error', line: 2, message: expect.stringContaining('train') }),
  ]);
  await expect(test.client.runs.start({ yaml })).rejects.toMatchObject({ data: { code: 'CONFIG_INVALID' } });
  const measured = await test.client.runs.check({ yaml: yaml.replace('early-experience', 'rollout') });
  expect(measured.problems.filter(({ path }) => path === 'environment.split')).toEqual([]);
});

it('warns of an adapter that is measured on tasks of train, and of fewer recorded games than tasks', async () => {
  const adapter = path.join(test.folder, 'adapter.gguf');
  const acting = (split: string) =>
    `kind: rollout\nenvironment: { id: household-small, split: ${split}, tasks: 1 }\npolicy: { model: daydream-starter, adapters: [{ path: '${adapter}' }] }\n`;
  const warningsAt = async (yaml: string, at: string) => {
    const { problems } = await test.client.runs.check({ yaml });
    return problems.filter(({ path: where, severity }) => where === at && severity === 'warning');
  };
  expect(await warningsAt(acting('train'), 'environment.split')).toHaveLength(1);
  expect(await warningsAt(acting('development'), 'environment.split')).toEqual([]);
  const collecting = (source: string) =>
    `kind: early-experience\nenvironment: { id: household-small, tasks: 3 }\npolicy: { model: 'scripted:random' }\ndemonstrations: { source: ${source} }\n`;
  expect(await warningsAt(collecting('recorded'), 'environment.tasks')).toEqual([
    expect.objectContaining({ message: expect.stringContaining('0 successful games') }),
  ]);
  expect(await warningsAt(collecting('solver'), 'environment.tasks')).toEqual([]);
});

it('takes the paper’s switches by the environment’s family, not by its id', async () => {
  const { catalogue } = test.app.services.store;
  const environmentId = environmentIdSchema.parse('kitchens-of-mine');
  catalogue.addFolder({ environmentId, kind: 'alfworld', folder: test.folder, addedAt: 1 }, [
    {
      file: 'train/a/game.tw-pddl',
      split: 'train',
      type: 'look',
      instruction: 'look at it',
      contentHash: sha256Schema.parse('a'.repeat(64)),
    },
  ]);
  const yaml = `kind: early-experience\nprofile: paper\nenvironment: { id: ${environmentId}, tasks: 1 }\npolicy: { model: nowhere.gguf }\n`;
  const { run, deviations } = await test.client.runs.check({ yaml });
  expect(run).toMatchObject({ branching: { sr: { unique: true } } });
  expect(deviations.map(({ label }) => label)).not.toContain('not-unique');
  catalogue.removeFolder(environmentId);
});

it('refuses a selection that no task of the split belongs to', async () => {
  const { catalogue } = test.app.services.store;
  const environmentId = environmentIdSchema.parse('two-games');
  const game = (split: 'train' | 'seen', type: string) => ({
    file: `${split}/game.tw-pddl`,
    split,
    type,
    instruction: 'put a mug away.',
    contentHash: sha256Schema.parse('a'.repeat(64)),
  });
  catalogue.addFolder({ environmentId, kind: 'alfworld', folder: test.folder, addedAt: 1 }, [
    game('train', 'pick'),
    game('seen', 'heat'),
  ]);
  const problemsOf = async (taskTypes: string) => {
    const environment = `{ id: two-games, split: train, tasks: 1, taskTypes: [${taskTypes}] }`;
    const yaml = `kind: rollout\nenvironment: ${environment}\npolicy: { model: 'scripted:random' }\n`;
    const found = (await test.client.runs.check({ yaml })).problems;
    return found.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  };
  expect(await problemsOf('heat')).toEqual(['two-games has no tasks of type heat in the split train.']);
  catalogue.removeFolder(environmentId);
});

it('opens no world again for a run that it has checked before', async () => {
  const provider = test.app.services.environments.get(environmentIdSchema.parse('household-small'));
  const open = vi.spyOn(provider, 'open');
  const yaml = (seed: number) =>
    `kind: rollout\nseed: ${String(seed)}\nenvironment: { id: household-small, tasks: 3, shuffle: true }\npolicy: { model: 'scripted:random' }\n`;
  await test.client.runs.check({ yaml: yaml(71) });
  const opened = open.mock.calls.map(([{ taskId }]) => taskId);
  const tasks = selectTasks(
    provider,
    taskSelectionSchema.parse({ id: 'household-small', tasks: 3, shuffle: true }),
    71,
  );
  expect(new Set(opened)).toEqual(new Set(tasks.map(({ taskId }) => taskId)));
  await test.client.runs.check({ yaml: yaml(71).replace('rollout\n', 'rollout\nname: typed on\n') });
  expect(open).toHaveBeenCalledTimes(opened.length);
  open.mockRestore();
});

it('estimates for a model called by its name what it estimates for its path', async () => {
  const file = path.join(test.folder, 'random-weights-by-name.gguf');
  writeRandomGguf(file, { seed: 3 });
  await test.client.models.add({ path: file });
  const memoryOf = async (reference: string) => {
    const yaml = `kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: '${reference}' }\n`;
    return (await test.client.runs.check({ yaml })).estimate?.memoryBytes;
  };
  const memory = await memoryOf(file);
  expect(memory).toBeGreaterThan(0);
  expect(await memoryOf('random-weights-by-name')).toBe(memory);
});

it('says of a model file that nobody has added yet that it is cut off', async () => {
  const file = path.join(test.folder, 'random-weights-half.gguf');
  writeRandomGguf(file, { seed: 4 });
  const yaml = `kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: '${file}' }\n`;
  const told = async () => {
    const { problems } = await test.client.runs.check({ yaml });
    return problems.flatMap(({ path: at, message }) => (at === 'policy.model' ? [message] : []));
  };
  expect(await told()).toEqual([]);
  await truncate(file, (await stat(file)).size / 2);
  expect(await told()).toEqual([expect.stringMatching(/random-weights-half\.gguf is cut off/)]);
});

it('says of an import which lines it will leave out, before anything runs', async () => {
  const { client, folder } = test;
  const { items } = await client.environments.tasks({
    environmentId: environmentIdSchema.parse('household-small'),
    split: 'train',
    limit: 1,
  });
  const file = path.join(folder, 'import.jsonl');
  const good = JSON.stringify({ task_id: items[0]?.taskId, actions: ['look'] });
  await writeFile(file, [good, 'garbage', good, '{"task_id": "moon", "actions": ["look"]}'].join('\n'));
  const yaml = `kind: early-experience\nenvironment: { id: household-small, tasks: 1 }\ndemonstrations: { source: import, file: ${JSON.stringify(file)} }\npolicy: { model: 'scripted:random' }\n`;
  const told = async () => {
    const { problems } = await client.runs.check({ yaml });
    return problems.flatMap(({ path: at, severity, message }) =>
      at === 'demonstrations.file' ? [`${severity}: ${message.replace(file, 'FILE')}`] : [],
    );
  };
  expect(await told()).toEqual([
    'warning: FILE, line 2: not JSON. It will be left out.',
    'warning: FILE, line 3: the same demonstration came before, in line 1. It will be left out.',
    'warning: FILE, line 4: the environment has no task moon. It will be left out.',
  ]);
  // The file is read again when it changes, and only then.
  await writeFile(file, 'garbage\n');
  expect(await told()).toEqual([
    'warning: FILE, line 1: not JSON. It will be left out.',
    'error: FILE holds no demonstration for this run.',
  ]);
});

it('finds an adapter of another architecture, of other sizes, or for no model, before anything is loaded', async () => {
  const base = path.join(test.folder, 'random-weights-base.gguf');
  writeRandomGguf(base, { seed: 11 });
  await test.client.models.add({ path: base });
  const adapter = (name: string, architecture: string, size: number): string => {
    const file = path.join(test.folder, name);
    writeGguf(file, {
      metadata: new Map([
        ['general.type', { type: 'string', value: 'adapter' }],
        ['general.architecture', { type: 'string', value: architecture }],
        ['adapter.type', { type: 'string', value: 'lora' }],
        ['adapter.lora.alpha', { type: 'float32', value: 4 }],
      ]),
      tensors: [
        { name: 'blk.0.attn_q.weight.lora_a', shape: [size, 2], data: () => new Float32Array(size * 2) },
        { name: 'blk.0.attn_q.weight.lora_b', shape: [2, size], data: () => new Float32Array(size * 2) },
      ],
    });
    return file;
  };
  const told = async (model: string, file: string) => {
    const yaml = `kind: rollout\nenvironment: { id: household-small, tasks: 1 }\npolicy: { model: ${JSON.stringify(model)}, adapters: [{ path: ${JSON.stringify(file)} }] }\nlimits: { maxSteps: 3 }\n`;
    const { problems } = await test.client.runs.check({ yaml });
    return problems.flatMap(({ path: at, message, severity }) =>
      severity === 'error' ? [`${at}: ${message}`] : [],
    );
  };
  const at = 'policy.adapters[0].path: ';
  const { embeddingLength: width } = (await test.app.services.models.resolve(base)).facts ?? {
    embeddingLength: 0,
  };
  expect(await told(base, adapter('fits.gguf', 'llama', width))).toEqual([]);
  expect(await told(base, adapter('other.gguf', 'qwen2', width))).toEqual([
    expect.stringContaining(
      `${at}The adapter ${path.join(test.folder, 'other.gguf')} was made for the architecture qwen2`,
    ),
  ]);
  expect(await told(base, adapter('wide.gguf', 'llama', width + 32))).toEqual([
    expect.stringContaining(
      `it changes blk.0.attn_q.weight as a matrix of ${String(width + 32)} × ${String(width + 32)}, which is ${String(width)} × ${String(width)} in the model`,
    ),
  ]);
  expect(await told(base, base)).toEqual([expect.stringContaining('is no adapter (general.type is')]);
  expect(await told('scripted:random', adapter('none.gguf', 'llama', width))).toEqual([
    expect.stringContaining('Only a model takes an adapter'),
  ]);
});
