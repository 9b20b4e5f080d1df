/**
 * `npm run oracle`: writes test/golden/trainer/*.json, the trainer's losses and gradients as plain PyTorch has them
 * (docs/design/trainer.md). PyTorch is installed into .cache/oracle-venv on demand; DAYDREAM_ORACLE_PYTHON names a Python that has it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { trainableArchitectures } from '../../src/shared/worker/trainer.ts';
import { findTorchPython, run, torchVersion } from '../lib/torch-python.ts';
import { lora, objectives, oracleCase, referenceSchema, scriptHash } from './cases.ts';
import type { Golden, OracleCase } from './cases.ts';

const root = path.resolve(import.meta.dirname, '../..');
const script = path.join(import.meta.dirname, 'reference.py');
const work = path.join(root, '.cache/oracle');
const golden = path.join(root, 'test/golden/trainer');

/** A Python whose PyTorch is the pinned one: the golden values say by which they were made. */
function pinnedPython(): string {
  const { python, version } = findTorchPython(console.log);
  if (version === torchVersion) return python;
  throw new Error(
    `${python} has torch ${version}; the golden values are made with ${torchVersion}. ` +
      'Nothing was written. Name another Python, or none to have it installed.',
  );
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

const python = pinnedPython();
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
