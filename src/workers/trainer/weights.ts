/**
 * The weights of a model on a device. Frozen ones as they are, with their transposes; trainable ones side by side in flat
 * arrays with those of gradients and Adam's moments, so that norm, step and checkpoint are a few operations.
 */
import { AppError } from '#shared/errors.ts';
import type { LoraSettings, TrainingMode } from '#shared/worker/trainer.ts';
import type { ModelWeights } from './decoder.ts';
import type { Device } from './device.ts';
import { Graph } from './graph.ts';
import type { Tensor } from './graph.ts';
import { elements } from './shape.ts';
import type { Shape } from './shape.ts';
import type { Pointer } from './library.ts';
import type { Adapter, Weight } from './tape.ts';

/** How a parameter is moved: AdamW with or without decay (matrices; norms and biases), or Muon (matrices of a whole model). */
export const updateRules = ['decay', 'plain', 'muon'] as const;
export type UpdateRule = (typeof updateRules)[number];

export interface ParameterSlot {
  name: string;
  shape: Shape;
  /** First element in the flat arrays of its group. */
  offset: number;
  length: number;
  group: UpdateRule;
}

/** Rows of the flat arrays; a parameter begins at a multiple of it. */
const rowLength = 64;

/** Parameters that the optimiser treats alike, side by side: [64, rows] each. */
export interface FlatGroup {
  rule: UpdateRule;
  length: number;
  parameters: Tensor;
  gradients: Tensor;
  firstMoments: Tensor;
  secondMoments: Tensor;
}

export class DeviceWeights implements ModelWeights {
  readonly slots: readonly ParameterSlot[];
  readonly groups: readonly FlatGroup[];
  readonly device: Device;
  /** Trainable numbers. */
  readonly trainable: number;
  adaptersOn = true;

  readonly #weights = new Map<string, Weight>();
  readonly #adapters = new Map<string, Adapter>();
  readonly #graph: Graph;
  readonly #buffer: Pointer;

  constructor(
    device: Device,
    frozen: ReadonlyMap<string, { shape: Shape; transpose: boolean }>,
    slots: readonly Omit<ParameterSlot, 'offset'>[],
    lora: LoraSettings | null,
  ) {
    this.device = device;
    this.trainable = slots.reduce((sum, { length }) => sum + length, 0);
    const graph = new Graph(device, 64 + frozen.size * 2 + slots.length * 4);
    this.#graph = graph;
    const groups: FlatGroup[] = [];
    const placed: ParameterSlot[] = [];
    for (const rule of updateRules) {
      let length = 0;
      const own = slots
        .filter((slot) => slot.group === rule)
        .map((slot) => {
          const offset = length;
          length += Math.ceil(slot.length / rowLength) * rowLength;
          return { ...slot, offset };
        });
      if (own.length === 0) continue;
      const flat = (): Tensor => graph.constant('f32', rowLength, length / rowLength);
      const group = {
        rule,
        length,
        parameters: flat(),
        gradients: flat(),
        firstMoments: flat(),
        secondMoments: flat(),
      };
      groups.push(group);
      placed.push(...own);
      for (const slot of own) {
        this.#weights.set(slot.name, {
          name: slot.name,
          tensor: graph.view(group.parameters, slot.offset, ...slot.shape),
          transposed: null,
          gradient: graph.view(group.gradients, slot.offset, ...slot.shape),
        });
      }
    }
    this.groups = groups;
    this.slots = placed;
    for (const [name, { shape, transpose }] of frozen) {
      this.#weights.set(name, {
        name,
        tensor: graph.constant('f32', ...shape),
        transposed: transpose ? graph.constant('f32', shape[1], shape[0]) : null,
        gradient: null,
      });
    }
    if (lora !== null) {
      for (const { name } of slots.filter((slot) => slot.name.endsWith('.lora_a'))) {
        const matrix = name.slice(0, -'.lora_a'.length);
        this.#adapters.set(matrix, {
          a: this.get(name),
          b: this.get(`${matrix}.lora_b`),
          scale: lora.alpha / lora.rank,
        });
      }
    }
    this.#buffer = device.allocate(graph);
    device.zero(this.#buffer);
  }

  get bytes(): number {
    return this.device.bytesOf(this.#buffer);
  }

  get(name: string): Weight {
    const weight = this.#weights.get(name);
    if (weight === undefined) throw new RangeError(`no tensor ${name}`);
    return weight;
  }

  find(name: string): Weight | null {
    return this.#weights.get(name) ?? null;
  }

  adapter(name: string): Adapter | null {
    return this.adaptersOn ? (this.#adapters.get(name) ?? null) : null;
  }

  /** Writes a tensor (and its transpose, where there is one). */
  write(name: string, values: Float32Array): void {
    const weight = this.get(name);
    if (values.length !== elements(weight.tensor.shape)) {
      throw new RangeError(`${name}: ${values.length} values for ${weight.tensor.shape.join(' × ')}`);
    }
    this.device.write(weight.tensor, values);
    if (weight.transposed !== null) {
      const [inner, outer] = weight.tensor.shape;
      this.device.write(weight.transposed, transpose(values, inner, outer));
    }
  }

  read(name: string): Float32Array {
    const { tensor } = this.get(name);
    return this.device.read(tensor, elements(tensor.shape));
  }

  clearGradients(): void {
    for (const group of this.groups) this.device.write(group.gradients, new Float32Array(group.length));
  }

  dispose(): void {
    this.device.free(this.#buffer);
    this.#graph.dispose();
  }
}

function transpose(values: Float32Array, inner: number, outer: number): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < outer; row += 1) {
    for (let column = 0; column < inner; column += 1) {
      turned[column * outer + row] = values[row * inner + column] ?? 0;
    }
  }
  return turned;
}

/** The trainable tensors of a mode. @param muon tables (embeddings) stay with AdamW, as its authors advise */
export function trainableSlots(
  present: readonly { name: string; shape: Shape }[],
  mode: TrainingMode,
  muon = false,
): Omit<ParameterSlot, 'offset'>[] {
  const slot = (name: string, shape: Shape, group: UpdateRule): Omit<ParameterSlot, 'offset'> => ({
    name,
    shape,
    length: elements(shape),
    group,
  });
  const ruleOf = (name: string, shape: Shape): UpdateRule => {
    if (shape[1] === 1) return 'plain';
    return muon && name.startsWith('blk.') ? 'muon' : 'decay';
  };
  if (mode.kind === 'full') {
    return present
      .filter(({ name }) => name !== 'rope_freqs.weight')
      .map(({ name, shape }) => slot(name, shape, ruleOf(name, shape)));
  }
  const { rank, targets } = mode.lora;
  const wanted = present.filter(({ name }) => targets.some((part) => name.endsWith(`.${part}.weight`)));
  if (wanted.length === 0) {
    throw new AppError({
      code: 'CONFIG_INVALID',
      message: `None of the target modules ${targets.join(', ')} is in this model. Use attn_q, attn_k, attn_v, attn_output, ffn_gate, ffn_up or ffn_down.`,
    });
  }
  return wanted.flatMap(({ name, shape }) => [
    slot(`${name}.lora_a`, [shape[0], rank, 1, 1], 'decay'),
    slot(`${name}.lora_b`, [rank, shape[1], 1, 1], 'decay'),
  ]);
}
