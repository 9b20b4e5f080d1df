/**
 * The original engine as an oracle: finds or makes a Python environment with the pinned package and plays games in it.
 * Nothing of it is needed to use Daydream.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const pinned = 'alfworld==0.4.2';
const root = fileURLToPath(new URL('../../', import.meta.url));
const driver = fileURLToPath(new URL('alfworld-driver.py', import.meta.url));

export type Oracle = { python: string } | { missing: string };

/**
 * $DAYDREAM_ALFWORLD_PYTHON, or `.cache/alfworld-venv`; with `install` the latter is made when it is not there.
 * @returns why there is none in `missing`
 */
export async function findOracle(options: { install: boolean }): Promise<Oracle> {
  const given = process.env['DAYDREAM_ALFWORLD_PYTHON'];
  if (given !== undefined && given !== '') return checked(given);
  const folder = path.join(root, '.cache', 'alfworld-venv');
  const python = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(python)) {
    const found = await checked(python);
    if ('python' in found || !options.install) return found;
  }
  if (!options.install) return { missing: `there is no ${path.relative(root, python)}` };
  try {
    await mkdir(path.dirname(folder), { recursive: true });
    await run('python3', ['-m', 'venv', '--clear', folder], { timeout: 120_000 });
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', pinned], {
      timeout: 900_000,
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (error) {
    const reason =
      error instanceof Error ? (error.message.split('\n').findLast((line) => line.trim() !== '') ?? '') : '';
    return { missing: `pip could not install ${pinned} here (${reason.slice(0, 300)})` };
  }
  return checked(python);
}

async function checked(python: string): Promise<Oracle> {
  try {
    const code = 'import importlib.metadata as m, alfworld, textworld.envs; print(m.version("alfworld"))';
    const { stdout } = await run(python, ['-c', code], { timeout: 120_000 });
    const version = stdout.trim();
    return pinned.endsWith(`==${version}`)
      ? { python }
      : { missing: `${python} has alfworld ${version}, not ${pinned}` };
  } catch {
    return { missing: `${python} has no working ${pinned}` };
  }
}

export interface Walk {
  /** Path of a game.tw-pddl. */
  readonly game: string;
  readonly actions: readonly string[];
}

const stateSchema = z.object({
  text: z.string(),
  admissible: z.array(z.string()),
  won: z.boolean(),
  reward: z.number(),
});
const answerSchema = z.union([
  z.object({ states: z.array(stateSchema), seconds: z.number() }),
  z.object({ error: z.string() }),
]);
export type Answer = z.infer<typeof answerSchema>;

/** Plays the walks in `processes` processes; answers in the order of the walks. */
export async function playInOriginal(
  python: string,
  walks: readonly Walk[],
  options: { processes: number; signal?: AbortSignal },
): Promise<Answer[]> {
  const answers: Answer[] = Array.from({ length: walks.length }, () => ({ error: 'the driver ended early' }));
  const worker = async (first: number): Promise<void> => {
    const child = spawn(python, [driver], {
      stdio: ['pipe', 'pipe', 'ignore'],
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => {
        resolve();
      });
    });
    const mine = walks
      .map((walk, index) => ({ walk, index }))
      .filter(({ index }) => index % options.processes === first);
    const send = (position: number): void => {
      const next = mine[position];
      if (next === undefined) child.stdin.end();
      else child.stdin.write(`${JSON.stringify(next.walk)}\n`);
    };
    child.stdin.on('error', () => undefined);
    let position = 0;
    send(position);
    for await (const line of createInterface({ input: child.stdout })) {
      const entry = mine[position];
      if (entry !== undefined) answers[entry.index] = answerSchema.parse(JSON.parse(line));
      position += 1;
      send(position);
    }
    await ended;
  };
  await Promise.all(Array.from({ length: options.processes }, (_, first) => worker(first)));
  return answers;
}
