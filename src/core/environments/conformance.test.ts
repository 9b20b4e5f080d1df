import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentIdSchema } from '#shared/ids.ts';
import { writeGameFile } from './alfred/game-file.ts';
import { checkConformance } from './conformance.ts';
import { catalogueOf, combinationName } from './household/catalogue.ts';
import { createHouseholdProvider } from './household/provider.ts';
import { instructionOf, problemOf, taskText } from './household/task.ts';
import { observationHash } from './observation-hash.ts';
import type { EnvironmentProvider, EnvironmentSession } from './port.ts';
import { createEnvironmentRegistry } from './registry.ts';

const now = () => performance.now();

describe('every environment', () => {
  let folder = '';
  let alfworld: EnvironmentProvider | null = null;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'daydream-conformance-'));
    for (const [name, split] of [
      ['train', 'train'],
      ['valid_seen', 'seen'],
      ['valid_unseen', 'unseen'],
    ] as const) {
      const some = catalogueOf('household-small').filter((entry) => entry.split === split);
      for (const combination of some.slice(0, 6)) {
        const trial = path.join(folder, name, combinationName(combination), 'trial_1');
        await mkdir(trial, { recursive: true });
        const text = taskText(instructionOf('household-small', combination));
        await writeFile(
          path.join(trial, 'game.tw-pddl'),
          writeGameFile(problemOf('household-small', combination), text),
        );
      }
    }
    const registry = createEnvironmentRegistry({
      catalogue: {
        folders: () => [],
        games: () => [],
        addFolder: () => undefined,
        removeFolder: () => false,
      },
      clock: { now: () => 0 },
    });
    alfworld = (await registry.addAlfworld(folder, environmentIdSchema.parse('alfworld'))).provider;
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each(['household', 'household-small', 'alfworld'] as const)('obeys the contract: %s', async (id) => {
    const provider = id === 'alfworld' ? alfworld : createHouseholdProvider(id);
    if (provider === null) throw new Error('the folder of games was not added');
    const result = await checkConformance(provider, { tasksPerSplit: 8, now });
    expect(result.rules.filter((rule) => !rule.passed)).toEqual([]);
    expect(result.rules.map(({ checked }) => checked).every((checked) => checked > 0)).toBe(true);
    expect(result.rules.length).toBeGreaterThanOrEqual(13);
  });
});

describe('the conformance suite', () => {
  const honest = createHouseholdProvider('household-small');
  const spoiled = (
    bend: (session: EnvironmentSession) => Partial<EnvironmentSession>,
  ): EnvironmentProvider => ({
    ...honest,
    async open(options) {
      const session = await honest.open(options);
      const names = ['reset', 'step', 'snapshot', 'restore', 'replayTo', 'solve', 'render', 'close'] as const;
      const bound = Object.fromEntries(names.map((name) => [name, session[name].bind(session)]));
      return { task: session.task, ...bound, ...bend(session) } as EnvironmentSession;
    },
  });
  const broken = async (provider: EnvironmentProvider): Promise<string[]> => {
    const { rules } = await checkConformance(provider, { tasksPerSplit: 1, now });
    return rules.filter((rule) => !rule.passed).map(({ rule }) => rule);
  };

  it('finds a world that is not deterministic', async () => {
    let count = 0;
    const provider = spoiled((session) => ({
      async step(action) {
        const outcome = await session.step(action);
        count += 1;
        return {
          ...outcome,
          observation: { ...outcome.observation, text: `${outcome.observation.text} ${String(count)}` },
        };
      },
    }));
    expect(await broken(provider)).toContain('the same task and seed give the same observations');
  });

  it('finds an expert that gives up', async () => {
    const provider = spoiled(() => ({ solve: () => Promise.resolve(null) }));
    expect(await broken(provider)).toEqual([
      'the expert succeeds within the step limit, also after wandering off',
    ]);
  });

  it('finds a restore that keeps what the branch did', async () => {
    const provider = spoiled((session) => ({
      async restore() {
        const { admissible } = (await session.step('')).observation;
        return { text: 'still here', admissible };
      },
    }));
    expect(await broken(provider)).toEqual(
      expect.arrayContaining([
        'a branch from a prefix equals a fresh episode replayed to that prefix',
        'two branches never touch each other',
      ]),
    );
  });

  it('finds an invalid action that throws or is rewarded', async () => {
    const provider = spoiled((session) => ({
      async step(action) {
        const outcome = await session.step(action);
        return outcome.valid ? outcome : { ...outcome, reward: 1 };
      },
    }));
    expect(await broken(provider)).toContain(
      'an invalid action is answered, scores 0 and costs a step; it never throws',
    );
  });

  it('finds truncation that is mixed with termination', async () => {
    const provider = spoiled((session) => ({
      async step(action) {
        const outcome = await session.step(action);
        return { ...outcome, truncated: outcome.truncated || outcome.terminated };
      },
    }));
    expect(await broken(provider)).toContain('the same task and seed give the same observations');
  });

  it('finds a replay that believes any record', async () => {
    const provider = spoiled((session) => ({ replayTo: (actions) => session.replayTo(actions) }));
    expect(await broken(provider)).toEqual(['a replay that differs from its record is refused']);
  });

  it('finds episodes that leave memory behind', async () => {
    const kept: string[][] = [];
    const provider = spoiled(() => {
      kept.push(Array.from({ length: 3000 }, (_, index) => `${String(kept.length)} ${String(index)}`));
      return {};
    });
    expect(await broken(provider)).toEqual(['many episodes do not grow memory']);
  });

  it('stops when it is told to', async () => {
    const signal = AbortSignal.abort();
    await expect(checkConformance(honest, { tasksPerSplit: 1, now, signal })).rejects.toThrow();
  });

  it('tells observations apart by text and by every listed command', () => {
    const hash = observationHash({ text: 'a', admissible: ['b', 'c'] });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(observationHash({ text: 'a', admissible: ['c', 'b'] })).not.toBe(hash);
    expect(observationHash({ text: 'a', admissible: null })).not.toBe(hash);
    expect(observationHash({ text: 'a', admissible: ['b', 'c'] })).toBe(hash);
  });
});
