/**
 * A Python with PyTorch, the reference of oracles and benches: $DAYDREAM_ORACLE_PYTHON, or `.cache/oracle-venv`, made and filled
 * on demand with the pinned versions (several GB from the package index). Nothing of it is needed to use Daydream.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

export const torchVersion = '2.15.0';
const numpyVersion = '2.4.6';
const root = path.resolve(import.meta.dirname, '../..');

export interface TorchPython {
  python: string;
  /** Without what a build adds to it (`+cpu`). */
  version: string;
}

/** @throws Error in words when there is none and none can be made */
export function findTorchPython(say: (line: string) => void): TorchPython {
  const named = process.env['DAYDREAM_ORACLE_PYTHON'];
  if (named !== undefined && named !== '') {
    const version = torchOf(named);
    if (version !== null) return { python: named, version };
    throw new Error(`DAYDREAM_ORACLE_PYTHON (${named}) has no torch and numpy that can be imported.`);
  }
  const venv = path.join(root, '.cache/oracle-venv');
  const python = path.join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (!existsSync(python)) run('python3', ['-m', 'venv', venv]);
  if (torchOf(python) !== torchVersion) {
    say(
      `Installing torch ${torchVersion} into ${path.relative(root, venv)}: several gigabytes, some minutes.`,
    );
    run(python, ['-m', 'pip', 'install', '--quiet', `torch==${torchVersion}`, `numpy==${numpyVersion}`]);
  }
  const version = torchOf(python);
  if (version === null) throw new Error(`torch was installed into ${venv}, but cannot be imported there.`);
  return { python, version };
}

/** @returns what it printed. @throws Error with what it complained of */
export function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  if (error !== undefined) throw new Error(`${command} did not start: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(status)}:\n${stderr}`);
  return stdout;
}

function torchOf(python: string): string | null {
  const { status, stdout } = spawnSync(python, ['-c', 'import numpy, torch; print(torch.__version__)'], {
    encoding: 'utf8',
  });
  return status === 0 ? (stdout.trim().split('+')[0] ?? null) : null;
}
