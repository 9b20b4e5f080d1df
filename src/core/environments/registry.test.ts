import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { environmentIdSchema } from '#shared/ids.ts';
import type { EnvironmentId } from '#shared/ids.ts';
import { writeGameFile } from './alfred/game-file.ts';
import { catalogueOf } from './household/catalogue.ts';
import { instructionOf, problemOf, taskText } from './household/task.ts';
import { createEnvironmentRegistry } from './registry.ts';
import type { FolderCatalogue } from './registry.ts';
import type { EnvironmentFolder, FolderGame } from '#core/store/port.ts';

interface Entry {
  folder: EnvironmentFolder;
  games: readonly FolderGame[];
}

function catalogueIn(entries: Map<EnvironmentId, Entry>): FolderCatalogue {
  return {
    folders: () => [...entries.values()].map(({ folder }) => folder),
    games: (environmentId) => [...(entries.get(environmentId)?.games ?? [])],
    addFolder: (folder, games) => void entries.set(folder.environmentId, { folder, games }),
    removeFolder: (environmentId) => entries.delete(environmentId),
  };
}

const some = catalogueOf('household-small').slice(0, 5);
function gameText(index: number): string {
  const combination = some[index % some.length];
  if (combination === undefined) throw new Error('no tasks');
  return writeGameFile(
    problemOf('household-small', combination),
    taskText(instructionOf('household-small', combination)),
  );
}

describe('the registry', () => {
  let folder = '';
  let entries = new Map<EnvironmentId, Entry>();
  const registry = () =>
    createEnvironmentRegistry({ catalogue: catalogueIn(entries), clock: { now: () => 1234 } });
  const put = async (name: string, content: string) => {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  };
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'daydream-registry-'));
    entries = new Map();
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('has both bundled worlds, and names them when asked for another', () => {
    expect(
      registry()
        .list()
        .map((provider) => provider.describe().id),
    ).toEqual(['household', 'household-small']);
    expect(registry().get(environmentIdSchema.parse('household')).describe().title).toBe('Household');
    expect(() => registry().get(environmentIdSchema.parse('moon'))).toThrow(
      /no environment "moon".*household, household-small/,
    );
  });

  it('adds a folder in the official layout: splits, types from trajectories, names or goals, bad files apart', async () => {
    await put('train/pick_and_place_simple-Mug-None-Desk-308/trial_T1/game.tw-pddl', gameText(0));
    await put('train/renamed/trial_T2/game.tw-pddl', gameText(1));
    await put('train/renamed/trial_T2/traj_data.json', JSON.stringify({ task_type: 'look_at_obj_in_light' }));
    await put('train/broken_trajectory/trial_T3/game.tw-pddl', gameText(2));
    await put('train/broken_trajectory/trial_T3/traj_data.json', '{');
    await put('valid_seen/a/trial_T4/game.tw-pddl', gameText(3));
    await put('valid_unseen/b/trial_T5/game.tw-pddl', gameText(4));
    await put(
      'valid_unseen/c/trial_T6/game.tw-pddl',
      '{ "pddl_domain": "(define (domain other))", "grammar": "", "pddl_problem": "" }',
    );
    await put('valid_unseen/d/trial_T7/game.tw-pddl', 'not a game');
    await put(
      'valid_unseen/e/trial_T8/game.tw-pddl',
      JSON.stringify({ ...(JSON.parse(gameText(0)) as object), solvable: false }),
    );
    const { provider, games, rejected } = await registry().addAlfworld(folder);
    expect(games).toBe(5);
    expect(rejected.map(({ file }) => file.split('/')[1])).toEqual(['c', 'd', 'e']);
    expect(rejected.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/pddl_domain is not the one/),
      expect.stringMatching(/not JSON/),
      expect.stringMatching(/cannot be solved/),
    ]);
    expect(provider.describe()).toMatchObject({
      id: 'alfworld',
      folder,
      splits: [
        { split: 'train', tasks: 3 },
        { split: 'development', tasks: 0 },
        { split: 'seen', tasks: 1 },
        { split: 'unseen', tasks: 1 },
      ],
    });
    const { tasks } = provider.listTasks({});
    const typeOf = (part: string) => tasks.find(({ taskId }) => taskId.includes(part))?.type;
    expect(typeOf('T1')).toBe('pick_and_place_simple');
    expect(typeOf('T2')).toBe('look_at_obj_in_light');
    expect(typeOf('T3')).toBe(some[2]?.type);
    expect(entries.get(environmentIdSchema.parse('alfworld'))?.folder).toMatchObject({
      folder,
      addedAt: 1234,
      kind: 'alfworld',
    });
  });

  it('takes a folder that is itself one of a split for that split', async () => {
    await put('valid_unseen/kitchen/trial/game.tw-pddl', gameText(0));
    await put('mine/kitchen/trial/game.tw-pddl', gameText(1));
    const splits = async (name: string) => {
      const { provider } = await registry().addAlfworld(path.join(folder, name));
      return provider.describe().splits.filter(({ tasks }) => tasks > 0);
    };
    expect(await splits('valid_unseen')).toEqual([{ split: 'unseen', tasks: 1 }]);
    expect(await splits('mine')).toEqual([{ split: 'train', tasks: 1 }]);
  });

  it('plays an added game like the bundled one', async () => {
    await put('game.tw-pddl', gameText(0));
    const { provider } = await registry().addAlfworld(folder);
    const [task] = provider.listTasks({}).tasks;
    if (task === undefined) throw new Error('no task');
    const session = await provider.open({ taskId: task.taskId, seed: 1 });
    expect((await session.reset()).text).toContain(`Your task is to: ${task.instruction}`);
    let success = false;
    for (let action = await session.solve(); action !== null; action = await session.solve()) {
      ({ success } = await session.step(action));
    }
    expect(success).toBe(true);
    await session.close();
  });

  it('remembers folders, gives each its own id, and removes them', async () => {
    await put('a/game.tw-pddl', gameText(0));
    await put('b/game.tw-pddl', gameText(0));
    await registry().addAlfworld(path.join(folder, 'a'));
    const { provider } = await registry().addAlfworld(path.join(folder, 'b'));
    expect(provider.describe().id).toBe('alfworld-2');
    await expect(
      registry().addAlfworld(path.join(folder, 'a/'), environmentIdSchema.parse('again')),
    ).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('is here already, as the environment "alfworld"') as string,
    });
    const later = registry();
    const checksum = later.get(environmentIdSchema.parse('alfworld')).describe().dataChecksum;
    expect(checksum).toBe(provider.describe().dataChecksum);
    expect(later.remove(environmentIdSchema.parse('alfworld'))).toBe(true);
    expect(later.remove(environmentIdSchema.parse('household'))).toBe(false);
    expect(later.list()).toHaveLength(3);
    await expect(later.addAlfworld(folder, environmentIdSchema.parse('household'))).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('says what is wrong with a folder and adds nothing', async () => {
    await expect(registry().addAlfworld(path.join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    await expect(registry().addAlfworld(folder)).rejects.toThrow(/no game\.tw-pddl below/);
    await put('x/game.tw-pddl', '[]');
    await expect(registry().addAlfworld(folder)).rejects.toThrow(
      /None of the 1 games.*x\/game\.tw-pddl: not a game/,
    );
    expect(entries.size).toBe(0);
  });

  it('keeps an environment whose folder is away, and says so', async () => {
    await put('game.tw-pddl', gameText(0));
    await registry().addAlfworld(folder);
    await rm(folder, { recursive: true });
    const later = registry();
    expect(later.list()).toHaveLength(2);
    expect(later.missing()).toEqual([{ environmentId: 'alfworld', folder }]);
    expect(() => later.get(environmentIdSchema.parse('alfworld'))).toThrow(/Its recorded episodes are kept/);
    expect(entries.size).toBe(1);
  });

  it('reads no game again at a later start: what was added is in the catalogue', async () => {
    await put('train/a/game.tw-pddl', gameText(0));
    await put('valid_seen/b/game.tw-pddl', gameText(1));
    const { provider } = await registry().addAlfworld(folder);
    // A registry that looked into the files would see one game less and another checksum.
    await rm(path.join(folder, 'valid_seen'), { recursive: true });
    await put('train/a/game.tw-pddl', gameText(2));
    const later = registry().get(provider.describe().id);
    expect(later.describe()).toEqual(provider.describe());
    expect(later.listTasks({})).toEqual(provider.listTasks({}));
  });

  it('does not play a file that was changed since it was added', async () => {
    await put('game.tw-pddl', gameText(0));
    const { provider } = await registry().addAlfworld(folder);
    const [task] = provider.listTasks({}).tasks;
    if (task === undefined) throw new Error('no task');
    await put('game.tw-pddl', gameText(1));
    const later = registry().get(provider.describe().id);
    await expect(later.open({ taskId: task.taskId, seed: 1 })).rejects.toMatchObject({
      code: 'ENVIRONMENT_DATA_INVALID',
      message: expect.stringContaining('another game than the one that was added'),
    });
    await put('game.tw-pddl', gameText(0));
    await (await later.open({ taskId: task.taskId, seed: 1 })).close();
  });

  it('gives two folders that are added at once an id each', async () => {
    await put('game.tw-pddl', gameText(0));
    const shared = registry();
    await put('more/game.tw-pddl', gameText(1));
    const both = await Promise.all([
      shared.addAlfworld(folder),
      shared.addAlfworld(path.join(folder, 'more')),
    ]);
    // Which of them is first read is first named.
    const ids = both.map(({ provider }) => provider.describe().id);
    expect(ids.toSorted()).toEqual(['alfworld', 'alfworld-2']);
  });

  it('takes one folder that is added twice at once only once', async () => {
    await put('game.tw-pddl', gameText(0));
    const shared = registry();
    const both = await Promise.allSettled([shared.addAlfworld(folder), shared.addAlfworld(folder)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(entries.size).toBe(1);
  });

  it('follows no symbolic link out of the folder', async () => {
    await put('inside/game.tw-pddl', gameText(0));
    await symlink(folder, path.join(folder, 'inside', 'loop'));
    expect((await registry().addAlfworld(folder)).games).toBe(1);
  });
});
