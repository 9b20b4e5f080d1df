/** The bundled worlds `household` and `household-small`: generated tasks under ALFWorld's rules. */
import { createHash } from 'node:crypto';
import { environmentIdSchema, sha256Schema, taskIdSchema } from '#shared/ids.ts';
import type { Sha256, TaskId } from '#shared/ids.ts';
import type { EnvironmentDescription, Task } from '#shared/schema/environment.ts';
import { loadGame } from '../alfred/game.ts';
import { actionGuide, createAlfredProvider } from '../alfred/provider.ts';
import { maxSteps } from '../alfred/session.ts';
import type { EnvironmentProvider } from '../port.ts';
import { catalogueOf, combinationName, splitSizes } from './catalogue.ts';
import type { Combination } from './catalogue.ts';
import { taskTypes } from './content.ts';
import { officialFiles } from './official-files.ts';
import { generatorVersion } from './room.ts';
import type { Preset } from './room.ts';
import { instructionOf, problemOf, taskText } from './task.ts';

const presentation: Readonly<Record<Preset, { title: string; summary: string }>> = {
  household: {
    title: 'Household',
    summary:
      'ALFWorld in TypeScript: generated kitchens, living rooms, bedrooms and bathrooms, the same commands and sentences, six types of task.',
  },
  'household-small': {
    title: 'Household (small)',
    summary:
      'The same rules in rooms of six or seven places with few objects: short episodes for quick experiments.',
  },
};

/** Tasks whose whole content goes into the checksum; the others follow from the same generator and names. */
const sampledPerSplit = 8;

export function createHouseholdProvider(preset: Preset): EnvironmentProvider {
  let catalogue: Map<TaskId, Combination> | null = null;
  let tasks: Task[] | null = null;
  let description: EnvironmentDescription | null = null;
  const environmentId = environmentIdSchema.parse(preset);

  const combinations = (): Map<TaskId, Combination> => {
    catalogue ??= new Map(
      catalogueOf(preset).map((entry) => [taskIdSchema.parse(combinationName(entry)), entry]),
    );
    return catalogue;
  };
  const allTasks = (): Task[] => {
    tasks ??= [...combinations()].map(([taskId, { split, type, kind, plan, object, target, trial }]) => ({
      taskId,
      environmentId,
      family: 'household',
      split,
      type,
      instruction: `${instructionOf(preset, { split, type, kind, plan, object, target, trial })}.`,
      meta: { room: kind, floorPlan: plan, object, target, trial },
    }));
    return tasks;
  };

  return createAlfredProvider({
    describe() {
      description ??= {
        id: environmentId,
        ...presentation[preset],
        version: generatorVersion,
        dataChecksum: checksum(preset, combinations()),
        licence: 'Apache-2.0; rules and sentences after ALFWorld (MIT)',
        family: 'household',
        standsBeside: 'ALFWorld',
        actionMode: 'enumerable',
        snapshot: 'native',
        deterministic: true,
        needsUserModel: false,
        expert: 'solver',
        maxSteps,
        taskTypes: [...taskTypes],
        splits: splitSizes(preset),
        actionGuide,
        folder: null,
      };
      return description;
    },
    tasks: allTasks,
    load(taskId) {
      const combination = combinations().get(taskId);
      if (combination === undefined) throw new Error(`no combination for listed task ${taskId}`);
      return loadGame(problemOf(preset, combination), taskText(instructionOf(preset, combination)));
    },
    taskFiles(taskId) {
      const combination = combinations().get(taskId);
      if (combination === undefined) throw new Error(`no combination for listed task ${taskId}`);
      return officialFiles(preset, combination);
    },
  });
}

function checksum(preset: Preset, combinations: ReadonlyMap<TaskId, Combination>): Sha256 {
  const hash = createHash('sha256').update(
    JSON.stringify([generatorVersion, preset, [...combinations.keys()]]),
  );
  const sampled = new Map<string, number>();
  for (const combination of combinations.values()) {
    const count = sampled.get(combination.split) ?? 0;
    if (count >= sampledPerSplit) continue;
    sampled.set(combination.split, count + 1);
    hash.update(JSON.stringify([problemOf(preset, combination), instructionOf(preset, combination)]));
  }
  return sha256Schema.parse(hash.digest('hex'));
}
