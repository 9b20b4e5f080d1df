/** PyTorch as the reference: finds or makes a Python environment with it, and trains there. Nothing of it is needed to use Daydream. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const packages = ['torch', 'numpy'];
const root = fileURLToPath(new URL('../../', import.meta.url));
const driver = fileURLToPath(new URL('torch-train.py', import.meta.url));

export type Torch = { python: string; version: string } | { missing: string };

/**
 * $DAYDREAM_ORACLE_PYTHON, or `.cache/oracle-venv`, made when it is not there (several GB from the package index).
 * @returns why there is none in `missing`
 */
export async function findTorch(say: (line: string) => void): Promise<Torch> {
  const given = process.env['DAYDREAM_ORACLE_PYTHON'];
  if (given !== undefined && given !== '') return checked(given);
  const folder = path.join(root, '.cache', 'oracle-venv');
  const python = path.join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(python)) {
    const found = await checked(python);
    if ('python' in found) return found;
  }
  try {
    say(`installing ${packages.join(' and ')} into ${path.relative(root, folder)} (several GB, once)`);
    await mkdir(path.dirname(folder), { recursive: true });
    await run('python3', ['-m', 'venv', '--clear', folder], { timeout: 120_000 });
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], {
      timeout: 1_800_000,
      maxBuffer: 16 * 1024 * 1024,
    });
  } catch (error) {
    const reason =
      error instanceof Error ? (error.message.split('\n').findLast((line) => line.trim() !== '') ?? '') : '';
    return {
      missing: `pip could not install ${packages.join(', ')} here (${reason.slice(0, 300)}); set DAYDREAM_ORACLE_PYTHON`,
    };
  }
  return checked(python);
}

async function checked(python: string): Promise<Torch> {
  try {
    const { stdout } = await run(python, ['-c', 'import numpy, torch; print(torch.__version__)'], {
      timeout: 120_000,
    });
    return { python, version: stdout.trim() };
  } catch {
    return { missing: `${python} has no working PyTorch and NumPy` };
  }
}

const answerSchema = z.object({ losses: z.array(z.number()), seconds: z.number() });

export interface TorchTrainer {
  train(steps: number): Promise<z.infer<typeof answerSchema>>;
  close(): void;
}

/** @param request the first line of the driver's protocol */
export function startTorch(python: string, request: object): TorchTrainer {
  const child = spawn(python, [driver], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    train: async (steps) => {
      child.stdin.write(`${JSON.stringify({ steps })}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the PyTorch driver ended: ${complaint}`);
      return answerSchema.parse(JSON.parse(value));
    },
    close: () => {
      child.kill();
    },
  };
}
