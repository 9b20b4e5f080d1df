/** The methods of the trainer process (shared/worker/trainer.ts) on one model at a time. */
import { AppError } from '#shared/errors.ts';
import { largestTransposed, trainerMethods } from '#shared/worker/trainer.ts';
import type { OpenParams, TrainerMethod, TrainerResult } from '#shared/worker/trainer.ts';
import { tensorsOf } from './architecture.ts';
import { restoreCheckpoint, saveCheckpoint } from './checkpoint.ts';
import { Device } from './device.ts';
import type { Shape } from './shape.ts';
import { libraryFolder, openLibrary } from './library.ts';
import type { GgmlLibrary } from './library.ts';
import { objectiveOf } from './objectives/of-spec.ts';
import { gaussian } from './random.ts';
import { selfTest } from './self-test.ts';
import { ModelTrainer } from './trainer.ts';
import { checkTensors, readTensors } from './stored-tensors.ts';
import { DeviceWeights, trainableSlots } from './weights.ts';

type Handler = (params: unknown, signal: AbortSignal) => Promise<unknown>;

export class TrainerSession {
  #library: GgmlLibrary | null = null;
  #devices: Device[] = [];
  #trainer: ModelTrainer | null = null;

  readonly handlers: Record<TrainerMethod, Handler> = {
    probe: (params) => {
      const { device } = trainerMethods.probe.params.parse(params);
      this.dispose();
      const name = this.#device(device, 1).info.description;
      this.dispose();
      return Promise.resolve({ name });
    },
    open: (params) => this.#open(trainerMethods.open.params.parse(params)),
    score: (params, signal) => {
      const { rows, adapters } = trainerMethods.score.params.parse(params);
      return this.#opened().score(rows, { adapters, signal });
    },
    step: async (params, signal) => {
      const { rows, objective, learningRate, stopNorm } = trainerMethods.step.params.parse(params);
      const trainer = this.#opened();
      return trainer.step(rows, await objectiveOf(objective, rows, () => trainer.score(rows, { signal })), {
        learningRate,
        stopNorm,
        signal,
      });
    },
    gradient: async (params, signal) => {
      const { rows, objective } = trainerMethods.gradient.params.parse(params);
      const trainer = this.#opened();
      trainer.weights.clearGradients();
      const { loss } = await trainer.accumulate(
        rows,
        await objectiveOf(objective, rows, () => trainer.score(rows, { signal })),
        signal,
      );
      return { loss, gradients: trainer.gradients() };
    },
    save: (params) => {
      const { file, note } = trainerMethods.save.params.parse(params);
      const trainer = this.#opened();
      return Promise.resolve({
        bytes: saveCheckpoint(file, trainer.weights, { update: trainer.update, note }),
      });
    },
    restore: (params) => {
      const { file } = trainerMethods.restore.params.parse(params);
      const trainer = this.#opened();
      const state = restoreCheckpoint(file, trainer.weights);
      trainer.update = state.update;
      return Promise.resolve(state);
    },
    weights: () => {
      const { weights } = this.#opened();
      return Promise.resolve(
        weights.slots.map(({ name, shape }) => ({ name, shape: [...shape], values: weights.read(name) })),
      );
    },
    merged: () => Promise.resolve(mergedMatrices(this.#opened().weights)),
  };

  dispose(): void {
    this.#trainer?.dispose();
    this.#trainer = null;
    for (const device of this.#devices) device.dispose();
    this.#devices = [];
  }

  #opened(): ModelTrainer {
    if (this.#trainer === null)
      throw new AppError({ code: 'CONFLICT', message: 'No model is open for training.' });
    return this.#trainer;
  }

  #device(kind: OpenParams['device'], threads: number): Device {
    this.#library ??= openLibrary(libraryFolder(kind === 'cuda' || kind === 'vulkan' ? kind : 'cpu'));
    const device = Device.open(this.#library, kind === 'cpu' ? 'cpu' : 'gpu', threads);
    this.#devices.push(device);
    return device;
  }

  async #open(params: OpenParams): Promise<TrainerResult<'open'>> {
    this.dispose();
    const { architecture, base, mode } = params;
    const device = this.#device(params.device, params.threads);
    await selfTest(device);
    const cpu = params.device === 'cpu' ? device : this.#device('cpu', params.threads);
    if (base.kind === 'file') checkTensors(architecture, base.tensors);
    const present = (base.kind === 'file' ? base.tensors : freshTensors(params)).map(({ name, shape }) => ({
      name,
      shape: fullShape(shape),
    }));
    const slots = trainableSlots(present, mode, params.adam.muon !== null);
    if (params.valueHead) {
      slots.push({
        name: 'value_head.weight',
        shape: [architecture.width, 1, 1, 1],
        length: architecture.width,
        group: 'plain',
      });
    }
    const own = new Set(slots.map(({ name }) => name));
    const frozen = present.filter(({ name }) => !own.has(name));
    const weights = new DeviceWeights(
      device,
      new Map(
        frozen.map(({ name, shape }) => [
          name,
          {
            shape,
            transpose: name.endsWith('.weight') && shape[1] > 1 && shape[0] * shape[1] <= largestTransposed,
          },
        ]),
      ),
      slots,
      mode.kind === 'lora' ? mode.lora : null,
    );
    try {
      const random = gaussian(params.seed);
      if (base.kind === 'file') {
        for await (const { tensor, values } of readTensors(cpu, base.file, base.tensors)) {
          weights.write(tensor.name, values);
        }
      } else initialise(weights, architecture.layers, gaussian(base.seed));
      if (mode.kind === 'lora') {
        // A as in Hu et al. 2021 (uniform of Kaiming's width there, normal here), B zero: the first step begins at the base.
        for (const { name, shape, length } of weights.slots) {
          if (!name.endsWith('.lora_a')) continue;
          const deviation = 1 / Math.sqrt(shape[0]);
          weights.write(
            name,
            Float32Array.from({ length }, () => random() * deviation),
          );
        }
      }
      if (params.adapter !== null) await continueFrom(cpu, weights, params.adapter);
      this.#trainer = new ModelTrainer(architecture, weights, { adam: params.adam, limits: params.limits });
    } catch (error) {
      weights.dispose();
      throw error;
    }
    return { device: device.info.description, trainable: weights.trainable, weightBytes: weights.bytes };
  }
}

function freshTensors(params: OpenParams): { name: string; shape: readonly number[] }[] {
  if (params.mode.kind !== 'full' || params.base.kind !== 'random') {
    throw new AppError({
      code: 'CONFIG_INVALID',
      message: 'A model from scratch is trained as a whole: choose the mode "full".',
    });
  }
  const { required, optional } = tensorsOf(params.architecture);
  const output = params.base.tiedEmbeddings ? [] : optional.filter(({ name }) => name === 'output.weight');
  return [...required, ...output];
}

/** Normal with deviation 0.02, what writes into the residual stream narrower by √(2 · layers) (GPT-2); norms are 1. */
function initialise(weights: DeviceWeights, layers: number, random: () => number): void {
  for (const { name, shape, length } of weights.slots) {
    if (shape[1] === 1) {
      weights.write(
        name,
        new Float32Array(length).fill(name.endsWith('.bias') || name === 'value_head.weight' ? 0 : 1),
      );
      continue;
    }
    const residual = name.includes('attn_output') || name.includes('ffn_down');
    const deviation = residual ? 0.02 / Math.sqrt(2 * layers) : 0.02;
    weights.write(
      name,
      Float32Array.from({ length }, () => random() * deviation),
    );
  }
}

async function continueFrom(
  cpu: Device,
  weights: DeviceWeights,
  adapter: NonNullable<OpenParams['adapter']>,
): Promise<void> {
  const expected = new Map(weights.slots.map(({ name, shape }) => [name, shape]));
  const wrong = adapter.tensors.filter(({ name, shape }) => {
    const slot = expected.get(name);
    return slot === undefined || fullShape(shape).some((size, index) => size !== slot[index]);
  });
  if (
    wrong.length > 0 ||
    adapter.tensors.length !== [...expected.keys()].filter((name) => name.includes('.lora_')).length
  ) {
    throw new AppError({
      code: 'CONFIG_INVALID',
      message:
        `The adapter ${adapter.file} does not fit: it must have the same rank and target modules as this training` +
        (wrong[0] === undefined ? '.' : ` (${wrong[0].name} is ${wrong[0].shape.join(' × ')}).`),
    });
  }
  for await (const { tensor, values } of readTensors(cpu, adapter.file, adapter.tensors))
    weights.write(tensor.name, values);
}

function fullShape(shape: readonly number[]): Shape {
  return [shape[0] ?? 1, shape[1] ?? 1, shape[2] ?? 1, shape[3] ?? 1];
}

function mergedMatrices(weights: DeviceWeights): TrainerResult<'merged'> {
  const names = weights.slots.flatMap(({ name }) =>
    name.endsWith('.lora_a') ? [name.slice(0, -'.lora_a'.length)] : [],
  );
  return names.map((name) => {
    const adapter = weights.adapter(name);
    if (adapter === null) throw new RangeError(`${name} has no adapter`);
    const { tensor } = weights.get(name);
    const [inputs, outputs] = tensor.shape;
    const values = weights.read(name);
    const a = weights.read(adapter.a.name);
    const b = weights.read(adapter.b.name);
    const rank = adapter.a.tensor.shape[1];
    for (let row = 0; row < outputs; row += 1) {
      for (let inner = 0; inner < rank; inner += 1) {
        const factor = adapter.scale * (b[row * rank + inner] ?? 0);
        const from = inner * inputs;
        const into = row * inputs;
        for (let column = 0; column < inputs; column += 1) {
          values[into + column] = (values[into + column] ?? 0) + factor * (a[from + column] ?? 0);
        }
      }
    }
    return { name, shape: [...tensor.shape], values };
  });
}
