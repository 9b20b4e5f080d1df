/** The trainer against PyTorch: golden values of `npm run oracle` (scripts/oracle), on the same weights and batch. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import type { Architecture, ObjectiveSpec, TrainRow, TrainingMode } from '#shared/worker/trainer.ts';
import {
  goldenSchema,
  lora,
  modes,
  objectiveNames,
  objectives,
  oracleCase,
  scriptHash,
} from '../../../scripts/oracle/cases.ts';
import type { Golden, Mode, OracleCase } from '../../../scripts/oracle/cases.ts';
import { Device } from './device.ts';
import type { Shape } from './shape.ts';
import { libraryFolder, openLibrary } from './library.ts';
import { objectiveOf } from './objectives/of-spec.ts';
import { ModelTrainer } from './trainer.ts';
import { DeviceWeights, trainableSlots } from './weights.ts';

let device: Device;
beforeAll(() => {
  device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
});
afterAll(() => {
  device.dispose();
});

const root = path.resolve(import.meta.dirname, '../../..');
/** Of the loss, and of a gradient's norm and projections relative to its norm. */
const tolerance = 1e-3;

function readGolden(name: Architecture['name']): Golden {
  return goldenSchema.parse(
    JSON.parse(readFileSync(path.join(root, 'test/golden/trainer', `${name}.json`), 'utf8')),
  );
}

function build({ architecture, tensors }: OracleCase, mode: Mode, valueHead: boolean): ModelTrainer {
  const settings: TrainingMode = mode === 'lora' ? { kind: 'lora', lora } : { kind: 'full' };
  const shapeOf = (shape: readonly number[]): Shape => [shape[0] ?? 1, shape[1] ?? 1, 1, 1];
  const present = tensors
    .filter(({ role }) => role === 'base')
    .map(({ name, shape }) => ({ name, shape: shapeOf(shape) }));
  const { width } = architecture;
  const slots = [
    ...trainableSlots(present, settings),
    ...(valueHead
      ? [
          {
            name: 'value_head.weight',
            shape: shapeOf([width]),
            length: width,
            group: 'plain' as const,
          },
        ]
      : []),
  ];
  const own = new Set(slots.map(({ name }) => name));
  const frozen = present.filter(({ name }) => !own.has(name));
  const weights = new DeviceWeights(
    device,
    new Map(frozen.map(({ name, shape }) => [name, { shape, transpose: shape[1] > 1 }])),
    slots,
    mode === 'lora' ? lora : null,
  );
  for (const { name, values } of tensors) if (weights.find(name) !== null) weights.write(name, values);
  return new ModelTrainer(architecture, weights, {
    adam: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 0, muon: null },
    limits: { longestBlock: 256, mostTokens: 256, share: true },
  });
}

function trainRows({ rows }: OracleCase, golden: Golden, mode: Mode): TrainRow[] {
  const { logprobs, baseLogprobs } = golden.modes[mode];
  const sum = (a: readonly number[] = [], b: readonly number[] = []): Float32Array =>
    Float32Array.from(a, (value, index) => value + (b[index] ?? NaN));
  return rows.map((row, index) => ({
    tokens: Int32Array.from(row.tokens),
    targets: Int32Array.from(row.targets),
    weights: Float32Array.from(row.weights),
    advantages: Float32Array.from(row.advantages),
    old: sum(logprobs[index], row.oldNoise),
    reference: sum(baseLogprobs[index], row.referenceNoise),
    oldValues: Float32Array.from(row.oldValues),
    returns: Float32Array.from(row.returns),
  }));
}

describe.each(trainableArchitectures)('%s', (name) => {
  const golden = readGolden(name);
  const made = oracleCase(name);

  it('has golden values of the present script, weights and batch (else: npm run oracle)', () => {
    const script = readFileSync(path.join(root, 'scripts/oracle/reference.py'), 'utf8');
    expect(golden).toMatchObject({
      architecture: name,
      script: scriptHash(script),
      inputs: made.hash,
      versions: { dtype: 'float64' },
    });
  });

  describe.each(modes)('%s', (mode) => {
    it('has PyTorch’s log-probabilities, with adapters and without', async () => {
      const trainer = build(made, mode, false);
      const rows = trainRows(made, golden, mode);
      const { logprobs, baseLogprobs } = golden.modes[mode];
      for (const [adapters, expected] of [
        [true, logprobs],
        [false, baseLogprobs],
      ] as const) {
        const scored = await trainer.score(rows, { adapters });
        expect(scored.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
        const gap = Math.max(
          ...scored.flatMap((row, index) =>
            [...row].map((value, at) => Math.abs(value - (expected[index]?.[at] ?? NaN))),
          ),
        );
        expect(gap).toBeLessThan(1e-4);
      }
      trainer.dispose();
    });

    it.each(objectiveNames)('has PyTorch’s loss and gradients: %s', async (objectiveName) => {
      const spec: ObjectiveSpec = objectives[objectiveName];
      const expected = golden.modes[mode].objectives[objectiveName];
      const trainer = build(made, mode, spec.kind === 'policy' && spec.valueCoefficient > 0);
      const rows = trainRows(made, golden, mode);
      trainer.weights.clearGradients();
      const { loss } = await trainer.accumulate(
        rows,
        await objectiveOf(spec, rows, () => trainer.score(rows)),
      );
      const gradients = trainer.gradients();
      expect(Math.abs(loss - expected.loss) / Math.abs(expected.loss)).toBeLessThan(tolerance);
      expect(Object.keys(gradients).sort()).toEqual(Object.keys(expected.gradients).sort());
      for (const [tensor, [norm = NaN, ...projected]] of Object.entries(expected.gradients)) {
        const values = gradients[tensor] ?? new Float32Array();
        const found = [
          Math.hypot(...values),
          ...made.directions.map((direction) =>
            values.reduce((sum, value, index) => sum + value * (direction[index] ?? NaN), 0),
          ),
        ];
        const gap = Math.max(
          ...[norm, ...projected].map((value, index) => Math.abs(value - (found[index] ?? NaN)) / norm),
        );
        expect(gap, tensor).toBeLessThan(tolerance);
      }
      trainer.dispose();
    });
  });
});
