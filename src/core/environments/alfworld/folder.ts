/**
 * Finds the games below a folder in the official layout: `train/`, `valid_seen/`, `valid_unseen/`, then one folder a task and one a
 * trial, each with `game.tw-pddl` and usually `traj_data.json`. The folder may be one of these itself. Any other layout works too: games
 * outside of them are `train`.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { toAppError } from '#shared/errors.ts';
import { sha256Schema } from '#shared/ids.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { Split } from '#shared/schema/environment.ts';
import type { FolderGame } from '#core/store/port.ts';
import { largestGameFile, loadGameFile } from '../alfred/game-file.ts';
import type { Formula } from '../alfred/problem.ts';

export const gameFileName = 'game.tw-pddl';
const mostFiles = 100_000;
const deepest = 12;

export interface Rejected {
  readonly file: string;
  readonly reason: string;
}

const splitOfFolder: Readonly<Record<string, Split>> = {
  train: 'train',
  valid_train: 'development',
  valid_seen: 'seen',
  valid_unseen: 'unseen',
};

/** Every game file below the folder, sorted. Symbolic links are not followed. */
export async function findGameFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    if (depth > deepest) return;
    for (const entry of await readdir(path.join(folder, relative), { withFileTypes: true })) {
      const inner = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) await walk(inner, depth + 1);
      else if (entry.isFile() && entry.name === gameFileName && found.length < mostFiles) found.push(inner);
    }
  };
  await walk('', 0);
  return found.sort();
}

export function readGameText(folder: string, file: string): string {
  const full = path.join(folder, file);
  const { size } = statSync(full);
  if (size > largestGameFile)
    throw new Error(`the file has ${String(size)} bytes, more than a game can have`);
  return readFileSync(full, 'utf8');
}

export function hashOfGame(text: string): Sha256 {
  return sha256Schema.parse(createHash('sha256').update(text).digest('hex'));
}

/** Reads one file; a bad one gives its reason, never an exception. */
export function inspectGame(folder: string, file: string): FolderGame | Rejected {
  try {
    const text = readGameText(folder, file);
    const { source } = loadGameFile(file, text);
    if (source.solvable === false) return { file, reason: 'the file says that it cannot be solved' };
    return {
      file,
      split: splitOf(folder, file),
      type: typeOf(folder, file, source.problem.goal),
      instruction: source.taskText.replace(/^Your task is to: /, ''),
      contentHash: hashOfGame(text),
    };
  } catch (error) {
    const failure = toAppError(error);
    const reason = failure.data['reason'];
    const line = failure.data['line'];
    const where = typeof line === 'number' ? `line ${String(line)} of pddl_problem: ` : '';
    return { file, reason: `${where}${typeof reason === 'string' ? reason : failure.message}` };
  }
}

function splitOf(folder: string, file: string): Split {
  for (const part of [...file.split('/'), path.basename(path.resolve(folder))]) {
    const split = splitOfFolder[part];
    if (split !== undefined) return split;
  }
  return 'train';
}

const trajectorySchema = z.object({ task_type: z.string().min(1).max(100) });
const namedTypes = [
  'pick_and_place_simple',
  'look_at_obj_in_light',
  'pick_clean_then_place_in_recep',
  'pick_heat_then_place_in_recep',
  'pick_cool_then_place_in_recep',
  'pick_two_obj_and_place',
  'pick_and_place_with_movable_recep',
];

function typeOf(folder: string, file: string, goal: Formula): string {
  try {
    const beside = path.join(folder, path.dirname(file), 'traj_data.json');
    if (statSync(beside).size <= largestGameFile) {
      return trajectorySchema.parse(JSON.parse(readFileSync(beside, 'utf8'))).task_type;
    }
  } catch {
    // No or unreadable trajectory: the folder's name or the goal tells as well.
  }
  const byName = namedTypes.find((type) => file.split('/').some((part) => part.startsWith(`${type}-`)));
  return byName ?? typeOfGoal(goal);
}

function typeOfGoal(goal: Formula): string {
  const used = new Set<string>();
  let comparisons = 0;
  const visit = (formula: Formula): void => {
    switch (formula.kind) {
      case 'fact':
        used.add(formula.predicate);
        return;
      case 'equal':
        comparisons += 1;
        return;
      case 'not':
        visit(formula.part);
        return;
      case 'and':
      case 'or':
        formula.parts.forEach(visit);
        return;
      case 'exists':
      case 'forall':
        visit(formula.body);
    }
  };
  visit(goal);
  if (used.has('istoggled')) return 'look_at_obj_in_light';
  if (used.has('inreceptacleobject')) return 'pick_and_place_with_movable_recep';
  if (used.has('isclean')) return 'pick_clean_then_place_in_recep';
  if (used.has('ishot')) return 'pick_heat_then_place_in_recep';
  if (used.has('iscool')) return 'pick_cool_then_place_in_recep';
  return comparisons > 0 ? 'pick_two_obj_and_place' : 'pick_and_place_simple';
}
