/** How fast the household world steps and branches, through the same sessions that episodes use, and against the original engine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { writeGameFile } from '#core/environments/alfred/game-file.ts';
import { catalogueOf } from '#core/environments/household/catalogue.ts';
import { createHouseholdProvider } from '#core/environments/household/provider.ts';
import { randomOf } from '#core/environments/household/random.ts';
import { instructionOf, problemOf, taskText } from '#core/environments/household/task.ts';
import type { EnvironmentSession } from '#core/environments/port.ts';
import { findOracle, playInOriginal } from './lib/alfworld-oracle.ts';
import { median, medianOfPairs, ratioFigure, valueFigure } from './lib/figure.ts';
import type { Bench, BenchOptions, Figure } from './lib/figure.ts';

const rounds = 7;

async function openSessions(count: number): Promise<EnvironmentSession[]> {
  const provider = createHouseholdProvider('household');
  const { tasks } = provider.listTasks({ split: 'train' });
  return Promise.all(tasks.slice(0, count).map((task) => provider.open({ taskId: task.taskId, seed: 1 })));
}

/** Random admissible actions, a new episode whenever one ends. Steps per second. */
async function stepRate(
  sessions: readonly EnvironmentSession[],
  steps: number,
  seed: string,
): Promise<number> {
  const random = randomOf(seed);
  const started = performance.now();
  let done = 0;
  for (let index = 0; done < steps; index += 1) {
    const session = sessions[index % sessions.length];
    if (session === undefined) break;
    let { admissible } = await session.reset();
    for (let finished = false; !finished && done < steps; done += 1) {
      const outcome = await session.step(random.pick(admissible ?? []));
      ({ admissible } = outcome.observation);
      finished = outcome.terminated || outcome.truncated;
    }
  }
  return (done / (performance.now() - started)) * 1000;
}

/** From states along an episode: snapshot, one alternative, restore. Rounds per second. */
async function branchRate(
  sessions: readonly EnvironmentSession[],
  branches: number,
  seed: string,
): Promise<number> {
  const random = randomOf(seed);
  let spent = 0;
  let done = 0;
  for (let index = 0; done < branches; index += 1) {
    const session = sessions[index % sessions.length];
    if (session === undefined) break;
    let { admissible } = await session.reset();
    for (let depth = 0; depth < 8 && done < branches; depth += 1) {
      const started = performance.now();
      for (let branch = 0; branch < 8; branch += 1) {
        const root = await session.snapshot();
        await session.step(random.pick(admissible ?? []));
        await session.restore(root);
      }
      spent += performance.now() - started;
      done += 8;
      const outcome = await session.step(random.pick(admissible ?? []));
      ({ admissible } = outcome.observation);
      if (outcome.terminated) break;
    }
  }
  return (done / spent) * 1000;
}

async function medianOf(measure: (round: number) => Promise<number>): Promise<number> {
  const values: number[] = [];
  await measure(0);
  for (let round = 1; round <= rounds; round += 1) values.push(await measure(round));
  return median(values);
}

async function againstOriginal(
  options: BenchOptions,
  sessions: readonly EnvironmentSession[],
): Promise<Figure> {
  const figure = 'steps per second against the original engine, one process each';
  const oracle = await findOracle({ install: false });
  if ('missing' in oracle) {
    const note = `not compared: ${oracle.missing}; the integration test makes it`;
    return {
      figure,
      value: Number.NaN,
      unit: 'steps/s',
      baseline: null,
      ratio: null,
      bar: null,
      ok: true,
      note,
    };
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), 'daydream-bench-'));
  try {
    const [combination] = catalogueOf('household');
    if (combination === undefined) throw new Error('the catalogue is empty');
    const game = path.join(folder, 'game.tw-pddl');
    await writeFile(
      game,
      writeGameFile(problemOf('household', combination), taskText(instructionOf('household', combination))),
    );
    const actions = Array.from({ length: options.quick ? 10 : 25 }, () => 'look');
    const pairs = await medianOfPairs(
      () => stepRate(sessions, 20_000, `pair/${String(options.seed)}`),
      async () => {
        const [answer] = await playInOriginal(oracle.python, [{ game, actions }], {
          processes: 1,
          signal: options.signal,
        });
        if (answer === undefined || 'error' in answer)
          throw new Error(`the original engine failed: ${answer?.error ?? ''}`);
        return actions.length / answer.seconds;
      },
    );
    return ratioFigure(figure, 'steps/s', pairs, { op: '>=', limit: 100 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const bench: Bench = {
  name: 'household',
  summary:
    'Steps and branches of the household world; against the original ALFWorld engine where it is installed.',
  async run(options) {
    const sessions = await openSessions(32);
    const scale = options.quick ? 0.2 : 1;
    options.say(`median of ${String(rounds)} rounds, 32 tasks of household/train`);
    const steps = await medianOf((round) =>
      stepRate(sessions, 50_000 * scale, `steps/${String(options.seed)}/${String(round)}`),
    );
    const branches = await medianOf((round) =>
      branchRate(sessions, 20_000 * scale, `branches/${String(options.seed)}/${String(round)}`),
    );
    return [
      valueFigure('steps per second in one process', 'steps/s', steps, { op: '>=', limit: 20_000 }),
      valueFigure('snapshot + step + restore per second', 'branches/s', branches, { op: '>=', limit: 5000 }),
      await againstOriginal(options, sessions),
    ];
  },
};
export default bench;
