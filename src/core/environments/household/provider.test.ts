import { describe, expect, it } from 'vitest';
import { taskIdSchema } from '#shared/ids.ts';
import { taskSchema } from '#shared/schema/environment.ts';
import { loadGame } from '../alfred/game.ts';
import { solve } from '../alfred/solver.ts';
import { catalogueOf, combinationName, isHeldOutPair } from './catalogue.ts';
import { roomKinds, rooms, taskTypes } from './content.ts';
import { createHouseholdProvider } from './provider.ts';
import { furnishRoom, heldOutPlans, knownPlans, signatureOf } from './room.ts';
import { instructionOf, problemOf } from './task.ts';

const presets = ['household', 'household-small'] as const;

describe.each(presets)('the tasks of %s', (preset) => {
  const catalogue = catalogueOf(preset);
  const provider = createHouseholdProvider(preset);

  it('have the original numbers for development, seen and unseen, and enough to train on', () => {
    const size = Object.fromEntries(provider.describe().splits.map(({ split, tasks }) => [split, tasks]));
    expect(size).toMatchObject({ development: 140, seen: 140, unseen: 134 });
    expect(size['train']).toBeGreaterThanOrEqual(preset === 'household' ? 3000 : 1000);
    expect(new Set(catalogue.map(({ type }) => type))).toEqual(new Set(taskTypes));
  });

  it('share no wish in a room that looks the same across splits, and no content', () => {
    const wishes = new Map<string, string>();
    const contents = new Map<string, string>();
    for (const entry of catalogue) {
      const signature = signatureOf(furnishRoom(preset, entry.kind, entry.plan));
      const wish = [entry.type, signature, entry.object, entry.target].join('/');
      expect(wishes.get(wish) ?? entry.split).toBe(entry.split);
      wishes.set(wish, entry.split);
    }
    for (const entry of catalogue.filter((_, index) => index % 7 === 0)) {
      const { init, goal } = problemOf(preset, entry);
      const content = JSON.stringify([init, goal]);
      expect(contents.get(content) ?? entry.split).toBe(entry.split);
      contents.set(content, entry.split);
    }
    expect(new Set(catalogue.map(combinationName)).size).toBe(catalogue.length);
  });

  it('of unseen use held-out rooms and held-out pairs only, the others neither', () => {
    for (const entry of catalogue) {
      const heldOut = isHeldOutPair(preset, entry.kind, entry.type, entry.object, entry.target);
      expect(heldOut).toBe(entry.split === 'unseen');
      expect(entry.plan <= 6).toBe(entry.split === 'unseen');
    }
    const furniture = (plans: readonly number[]) =>
      new Set(
        roomKinds.flatMap((kind) =>
          plans.flatMap((plan) =>
            furnishRoom(preset, kind, plan).receptacles.map(({ className }) => `${kind}/${className}`),
          ),
        ),
      );
    const isNew = [...furniture(heldOutPlans)].filter((entry) => !furniture(knownPlans).has(entry));
    expect(isNew.length).toBeGreaterThanOrEqual(8);
  });

  it('have names, sentences and content that never change by accident', () => {
    const [first] = catalogue;
    if (first === undefined) throw new Error('no tasks');
    expect({
      checksum: provider.describe().dataChecksum,
      name: combinationName(first),
      instruction: instructionOf(preset, first),
      facts: problemOf(preset, first).init.length,
    }).toMatchSnapshot();
  });

  it('are listed by split, type and text, page by page', () => {
    const all = provider.listTasks({ split: 'train', type: 'look_at_obj_in_light' });
    expect(all.tasks.every((task) => task.split === 'train' && task.type === 'look_at_obj_in_light')).toBe(
      true,
    );
    const page = provider.listTasks({ split: 'train', type: 'look_at_obj_in_light', offset: 3, limit: 2 });
    expect(page).toEqual({ total: all.total, tasks: all.tasks.slice(3, 5) });
    const lamps = provider.listTasks({ text: 'DESKLAMP' });
    expect(lamps.total).toBeGreaterThan(10);
    expect(lamps.tasks.every((task) => task.instruction.includes('desklamp'))).toBe(true);
    for (const task of page.tasks) expect(taskSchema.parse(task)).toEqual(task);
  });

  it('are refused by an unknown name', () => {
    expect(() => provider.getTask(taskIdSchema.parse('nothing-like-it'))).toThrow(
      /has no task nothing-like-it/,
    );
  });

  it('are solved by the expert within 50 steps, all of every third', () => {
    for (const entry of catalogue.filter((_, index) => index % 3 === 0)) {
      const game = loadGame(problemOf(preset, entry), '');
      const plan = solve(game, game.start());
      expect(plan?.length ?? 99, combinationName(entry)).toBeLessThanOrEqual(20);
      expect(plan?.length ?? 0).toBeGreaterThanOrEqual(3);
    }
  });
});

it('small rooms have six or seven places', () => {
  for (const kind of roomKinds) {
    for (const plan of [...heldOutPlans, ...knownPlans]) {
      const places = furnishRoom('household-small', kind, plan).receptacles.length;
      expect(places, `${kind} ${String(plan)}`).toBeGreaterThanOrEqual(6);
      expect(places, `${kind} ${String(plan)}`).toBeLessThanOrEqual(7);
    }
    expect(rooms[kind].objects.length).toBeGreaterThan(5);
  }
});
