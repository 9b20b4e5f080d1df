import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEnvironmentRegistry } from './registry.ts';
import { createHouseholdProvider } from './household/provider.ts';
import { writeTasks } from './write-tasks.ts';

const provider = createHouseholdProvider('household-small');
const everything = { split: null, taskTypes: [], tasksPerSplit: 2 };

describe('tasks written as files of ALFWorld', () => {
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'daydream-tasks-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('come back as the same tasks, in the splits of the official folders', async () => {
    const folder = path.join(root, 'games');
    const written = await writeTasks(provider, { ...everything, folder });
    expect(written).toMatchObject({ folder, tasks: 8, files: 24 });
    expect(await readdir(folder)).toEqual(['train', 'valid_seen', 'valid_train', 'valid_unseen']);
    expect(await readdir(root)).toEqual(['games']);
    const registry = createEnvironmentRegistry({
      catalogue: {
        folders: () => [],
        games: () => [],
        addFolder: () => undefined,
        removeFolder: () => false,
      },
      clock: { now: () => 0 },
    });
    const read = await registry.addAlfworld(folder);
    expect(read.rejected).toEqual([]);
    for (const split of ['train', 'development', 'seen', 'unseen'] as const) {
      const facts = (tasks: readonly { type: string; instruction: string }[]) =>
        tasks.map(({ type, instruction }) => `${type}: ${instruction}`).toSorted();
      expect(facts(read.provider.listTasks({ split }).tasks)).toEqual(
        facts(provider.listTasks({ split, limit: 2 }).tasks),
      );
    }
  });

  it('hold what the original’s loader asks for, and nothing that it skips', async () => {
    const folder = path.join(root, 'games');
    await writeTasks(provider, { split: 'unseen', taskTypes: [], tasksPerSplit: null, folder });
    const games = (await readdir(folder, { recursive: true })).filter((name) =>
      name.endsWith('traj_data.json'),
    );
    expect(games).toHaveLength(134);
    for (const name of games) {
      // Its loader leaves out whatever has these words in its path.
      expect(name).not.toMatch(/movable|Sliced/);
      const beside = path.join(folder, path.dirname(name));
      const trajectory = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Record<
        string,
        unknown
      >;
      const game = JSON.parse(await readFile(path.join(beside, 'game.tw-pddl'), 'utf8')) as Record<
        string,
        string
      >;
      expect(name.split(path.sep)[1]).toMatch(new RegExp(`^${String(trajectory['task_type'])}-`));
      expect(game).toMatchObject({ solvable: true });
      expect(await readFile(path.join(beside, 'initial_state.pddl'), 'utf8')).toBe(game['pddl_problem']);
    }
  });

  it('go into an empty folder, and never over anything', async () => {
    const folder = path.join(root, 'games');
    await mkdir(folder);
    await writeTasks(provider, { ...everything, split: 'seen', folder });
    const before = await readdir(folder, { recursive: true });
    await expect(writeTasks(provider, { ...everything, folder })).rejects.toMatchObject({
      code: 'FILE_EXISTS',
      message: expect.stringContaining('it holds valid_seen. Nothing in it was touched') as string,
    });
    expect(await readdir(folder, { recursive: true })).toEqual(before);
    const file = path.join(root, 'file');
    await writeFile(file, 'mine');
    await expect(writeTasks(provider, { ...everything, folder: file })).rejects.toMatchObject({
      code: 'FILE_EXISTS',
    });
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  it('leave nothing behind when they are stopped, or when there is nothing to write', async () => {
    const folder = path.join(root, 'games');
    const stopped = writeTasks(provider, { ...everything, folder }, { signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'CANCELLED' });
    const typo = writeTasks(provider, { ...everything, taskTypes: ['pick'], folder });
    await expect(typo).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('It has: pick_and') as string,
    });
    expect(await readdir(root)).toEqual([]);
  });
});
