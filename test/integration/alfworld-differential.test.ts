/**
 * Our rules against the original engine, step by step: sentence, admissible commands (in order), `won`, reward. The original lists things
 * in the order of their ids, so nothing has to be compared as a set. It is skipped, with the reason, where the package cannot be had.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeGameFile } from '#core/environments/alfred/game-file.ts';
import { writeProblem } from '#core/environments/alfred/problem-writer.ts';
import { findOracle, playInOriginal } from '../../bench/lib/alfworld-oracle.ts';
import type { Oracle } from '../../bench/lib/alfworld-oracle.ts';
import { casesOf, playHere } from './alfworld-walks.ts';
import type { Case } from './alfworld-walks.ts';

const golden = new URL('../golden/alfworld/', import.meta.url);

interface Difference {
  game: string;
  step: number;
  action: string | null;
  what: string;
  ours: unknown;
  theirs: unknown;
}

describe('the rules of household against the original ALFWorld engine', () => {
  let oracle: Oracle = { missing: 'not looked for' };
  let folder = '';
  beforeAll(async () => {
    oracle = await findOracle({ install: true });
    folder = await mkdtemp(path.join(os.tmpdir(), 'daydream-alfworld-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function compare(cases: readonly Case[], python: string) {
    const walks = await Promise.all(
      cases.map(async ({ problem, taskText, actions }, index) => {
        const game = path.join(folder, `${String(index)}.tw-pddl`);
        await writeFile(game, writeGameFile(problem, taskText));
        return { game, actions };
      }),
    );
    const answers = await playInOriginal(python, walks, { processes: 2 });
    const differences: Difference[] = [];
    let steps = 0;
    let won = 0;
    for (const [index, { name, problem, taskText, actions }] of cases.entries()) {
      const answer = answers[index];
      if (answer === undefined || 'error' in answer) {
        differences.push({
          game: name,
          step: -1,
          action: null,
          what: 'load',
          ours: 'playable',
          theirs: answer?.error,
        });
        continue;
      }
      const ours = playHere(problem, taskText, actions);
      expect(answer.states).toHaveLength(ours.length);
      steps += actions.length;
      if (ours.some((state) => state.won)) won += 1;
      for (const [step, theirs] of answer.states.entries()) {
        for (const what of ['text', 'admissible', 'won', 'reward'] as const) {
          const mine = ours[step]?.[what];
          if (JSON.stringify(mine) !== JSON.stringify(theirs[what])) {
            differences.push({
              game: name,
              step,
              action: actions[step - 1] ?? null,
              what,
              ours: mine,
              theirs: theirs[what],
            });
          }
        }
      }
    }
    return { differences, steps, won, answers };
  }

  it('shows no difference in 216 games and more than 5,000 steps', async ({ skip }) => {
    if ('missing' in oracle) skip(`the original engine is not here: ${oracle.missing}`);
    const cases = [
      ...casesOf('household', 108, { bent: false, steps: 25 }),
      ...casesOf('household-small', 72, { bent: false, steps: 25 }),
      ...casesOf('household-small', 36, { bent: true, steps: 25 }),
    ];
    const started = performance.now();
    const { differences, steps, won } = await compare(cases, 'python' in oracle ? oracle.python : '');
    const count = (of: (entry: Case) => string): string =>
      JSON.stringify(
        Object.fromEntries([...Map.groupBy(cases, of)].map(([key, list]) => [key, list.length])),
      );
    console.log(
      `${String(cases.length)} games, ${String(steps)} steps, ${String(won)} won, ${String(differences.length)} differences, ${((performance.now() - started) / 1000).toFixed(0)} s`,
    );
    console.log(`types: ${count(({ type }) => type)}`);
    console.log(`walks: ${count(({ walk }) => walk)}`);
    expect(differences.slice(0, 5)).toEqual([]);
    expect(cases.length).toBeGreaterThanOrEqual(200);
    expect(steps).toBeGreaterThanOrEqual(5000);
    expect(won).toBeGreaterThan(50);
  });

  it.runIf(process.env['DAYDREAM_WRITE_GOLDEN'] === '1')(
    'writes the golden transcripts',
    async ({ skip }) => {
      if ('missing' in oracle) skip(`the original engine is not here: ${oracle.missing}`);
      const cases = [
        ...casesOf('household-small', 12, { bent: false, steps: 16 }),
        ...casesOf('household-small', 12, { bent: true, steps: 16 }),
        ...casesOf('household', 2, { bent: false, steps: 12 }),
      ];
      const { differences, answers } = await compare(cases, 'python' in oracle ? oracle.python : '');
      expect(differences).toEqual([]);
      await mkdir(golden, { recursive: true });
      for (const [index, { name, problem, taskText, actions }] of cases.entries()) {
        const answer = answers[index];
        if (answer === undefined || 'error' in answer) throw new Error(`no transcript of ${name}`);
        const transcript = { name, taskText, problem: writeProblem(problem), actions, states: answer.states };
        await writeFile(
          new URL(`${String(index).padStart(2, '0')}.json`, golden),
          `${JSON.stringify(transcript)}\n`,
        );
      }
    },
  );
});
