/**
 * `npm run oracle`: writes test/golden/trainer/*.json, the trainer's losses and gradients as plain PyTorch has them
 * (docs/design/trainer.md). PyTorch is installed into .cache/oracle-venv on demand; DAYDREAM_ORACLE_PYTHON names a Python that has it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { trainableArchitectures } from '../../src/shared/worker/trainer.ts';
import { lora, objectives, oracleCase, referenceSchema, scriptHash } from './cases.ts';
import type { Golden, OracleCase } from './cases.ts';

const torchVersion = '2.15.0';
const root = path.resolve(import.meta.dirname, '../..');
const script = path.join(import.meta.dirname, 'reference.py');
const work = path.join(root, '.cache/oracle');
const golden = path.join(root, 'test/golden/trainer');

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
  if (error !== undefined) throw new Error(`${command} did not start: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stderr}`);
  return stdout;
}

/** Without what a build adds to it (`+cpu`); null when there is none. */
function torchOf(python: string): string | null {
  const { status, stdout } = spawnSync(python, ['-c', 'import torch; print(torch.__version__)'], {
    encoding: 'utf8',
  });
  return status === 0 ? (stdout.trim().split('+')[0] ?? null) : null;
}

/** A Python whose PyTorch is the pinned one. */
function findPython(): string {
  const named = process.env['DAYDREAM_ORACLE_PYTHON'];
  if (named !== undefined) {
    const found = torchOf(named);
    if (found === torchVersion) return named;
    throw new Error(
      `DAYDREAM_ORACLE_PYTHON (${named}) has ${found === null ? 'no torch that can be imported' : `torch ${found}`}; ` +
        `the golden values are made with ${torchVersion}. Nothing was written. Name another Python, or none to have it installed.`,
    );
  }
  const venv = path.join(root, '.cache/oracle-venv');
  const python = path.join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (!existsSync(python)) run('python3', ['-m', 'venv', venv]);
  if (torchOf(python) !== torchVersion) {
    console.log(`Installing torch ${torchVersion} into ${venv}: several gigabytes, some minutes.`);
    run(python, ['-m', 'pip', 'install', '--quiet', `torch==${torchVersion}`]);
  }
  return python;
}

function writeInputs({ architecture, tensors, rows, directions }: OracleCase): void {
  const file = path.join(work, architecture.name);
  const flat = Float32Array.from(tensors.flatMap(({ values }) => [...values]));
  writeFileSync(`${file}.f32`, new Uint8Array(flat.buffer));
  writeFileSync(
    `${file}.json`,
    JSON.stringify({
      architecture,
      lora,
      objectives,
      tensors: tensors.map(({ name, shape, role }) => ({ name, shape, role })),
      rows,
      directions: directions.map((direction) => [...direction]),
    }),
  );
}

const python = findPython();
mkdirSync(work, { recursive: true });
mkdirSync(golden, { recursive: true });
for (const name of trainableArchitectures) {
  const made = oracleCase(name);
  writeInputs(made);
  run(python, [script, work, name]);
  const values: Golden = {
    architecture: name,
    script: scriptHash(readFileSync(script, 'utf8')),
    inputs: made.hash,
    ...referenceSchema.parse(JSON.parse(readFileSync(path.join(work, `${name}.out.json`), 'utf8'))),
  };
  const text = `${JSON.stringify(values)}\n`;
  writeFileSync(path.join(golden, `${name}.json`), text);
  console.log(`${name}: ${values.versions.torch}, ${text.length} bytes`);
}
