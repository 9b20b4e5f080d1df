/**
 * A generated task as the files that the original ALFWorld reads: its loader walks over `traj_data.json`, takes the type from it, and
 * plays the `game.tw-pddl` beside it where that says `solvable`. Older releases also want `initial_state.pddl`.
 */
import type { Split } from '#shared/schema/environment.ts';
import { writeGameFile } from '../alfred/game-file.ts';
import { writeProblem } from '../alfred/problem-writer.ts';
import type { TaskFiles } from '../port.ts';
import { combinationName } from './catalogue.ts';
import type { Combination } from './catalogue.ts';
import type { Preset } from './room.ts';
import { instructionOf, problemOf, taskText } from './task.ts';

const folderOfSplit: Readonly<Record<Split, string>> = {
  train: 'train',
  development: 'valid_train',
  seen: 'valid_seen',
  unseen: 'valid_unseen',
};

export function officialFiles(preset: Preset, combination: Combination): TaskFiles {
  const { split, type, kind, plan, object, target, trial } = combination;
  const problem = problemOf(preset, combination);
  const instruction = instructionOf(preset, combination);
  const isLamp = type === 'look_at_obj_in_light';
  const room = `${kind.replace(' ', '')}${String(plan)}`;
  const trajectory = {
    task_id: combinationName(combination),
    task_type: type,
    pddl_params: {
      object_target: object,
      object_sliced: false,
      mrecep_target: '',
      parent_target: isLamp ? '' : target,
      toggle_target: isLamp ? target : '',
    },
    scene: { floor_plan: room },
    turk_annotations: { anns: [{ task_desc: `${instruction}.`, high_descs: [] }] },
  };
  return {
    folder: [
      folderOfSplit[split],
      [type, object, 'None', target, room].join('-'),
      `trial_${String(trial)}`,
    ].join('/'),
    files: [
      { name: 'game.tw-pddl', text: writeGameFile(problem, taskText(instruction)) },
      { name: 'traj_data.json', text: `${JSON.stringify(trajectory, null, 2)}\n` },
      { name: 'initial_state.pddl', text: writeProblem(problem) },
    ],
  };
}
