/**
 * A real pre-trained model in two engines: the trainer's distribution is node-llama-cpp's. Compared on the float32 values that the
 * file keeps, since llama.cpp rounds what it multiplies quantised weights with; on the file itself, that rounding is the difference.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getLlama } from 'node-llama-cpp';
import type { Llama, Token } from 'node-llama-cpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyGguf, readGguf } from '#core/llm/index.ts';
import { createNodeSpawner } from '#core/process/index.ts';
import { architectureOf, storedTensors } from '#core/training/index.ts';
import { hiddenStates, head } from '#workers/trainer/decoder.ts';
import { Device } from '#workers/trainer/device.ts';
import { Graph } from '#workers/trainer/graph.ts';
import { fillMasks } from '#workers/trainer/forest.ts';
import { libraryFolder, openLibrary } from '#workers/trainer/library.ts';
import { readTensors } from '#workers/trainer/stored-tensors.ts';
import { Tape } from '#workers/trainer/tape.ts';
import { DeviceWeights } from '#workers/trainer/weights.ts';
import { fileParams, withTrainer } from '#test/helpers/file-trainer.ts';
import { engineLogprobs, testModelService } from '#test/helpers/model-service.ts';
import { fetchPretrained, pretrainedFile } from '#test/helpers/pretrained.ts';

const missing = fetchPretrained();
/** Tokens of real text. */
const compared = 192;
const root = path.resolve(import.meta.dirname, '../..');

describe.skipIf(missing !== null)('a pre-trained model in the trainer', () => {
  let folder: string;
  let llama: Llama;
  let tokens: Token[];
  /** log p of each next token, and the likeliest next token, at each position but the last. */
  let trained: { logprobs: number[]; greedy: number[] };
  const inFloat = () => path.join(folder, 'float32.gguf');

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'daydream-pretrained-'));
    llama = await getLlama({ gpu: false, maxThreads: 1, build: 'never', skipDownload: true });
    const device = Device.open(openLibrary(libraryFolder('cpu')), 'cpu', 1);
    const header = readGguf(pretrainedFile);
    const values = new Map<string, Float32Array>();
    for await (const read of readTensors(device, pretrainedFile, storedTensors(header, pretrainedFile)))
      values.set(read.tensor.name, read.values);
    await copyGguf(pretrainedFile, inFloat(), (name) => values.get(name) ?? null);

    const peer = await llama.loadModel({ modelPath: pretrainedFile });
    const text = readFileSync(path.join(root, 'docs/guide/tutorial.md'), 'utf8');
    // The model's beginning, then real text.
    tokens = [peer.tokens.bos ?? (2 as Token), ...peer.tokenize(text)].slice(0, compared);
    await peer.dispose();
    trained = await distribution(device, values, tokens);
    device.dispose();
  });
  afterAll(async () => {
    await llama.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  async function distribution(device: Device, values: Map<string, Float32Array>, ids: readonly number[]) {
    const architecture = architectureOf(readGguf(pretrainedFile), pretrainedFile);
    const shapes = readGguf(pretrainedFile).tensors;
    const weights = new DeviceWeights(
      device,
      new Map(
        shapes.map(({ name, shape }) => [
          name,
          { shape: [shape[0] ?? 1, shape[1] ?? 1, 1, 1] as const, transpose: false },
        ]),
      ),
      [],
      null,
    );
    for (const [name, tensor] of values) weights.write(name, tensor);
    const length = ids.length;
    const sources = length - 1;
    const graph = new Graph(device, 512 + architecture.layers * 256);
    const chunks = [{ from: 0, to: length }];
    const inputs = {
      ids: graph.input('i32', length),
      positions: graph.input('i32', length),
      mask: graph.input('f32', length, length, 1, 1),
      windowMask: graph.input('f32', length, length, 1, 1),
      sources: graph.input('i32', sources),
      cells: graph.input('i32', sources),
    };
    const tape = new Tape(graph);
    const hidden = hiddenStates(tape, architecture, weights, {
      ...inputs,
      chunks,
      masks: [inputs.mask],
      windowMasks: [inputs.windowMask],
      negatedPositions: null,
      length,
      blocks: 1,
    });
    const top = head(tape, weights, hidden, inputs);
    graph.output(top.logprobs);
    graph.output(top.logits.tensor);
    graph.expand(top.logprobs);
    const allocator = device.newAllocator();
    device.place(allocator, graph.whole);
    const block = {
      length,
      ids: [...ids],
      depths: ids.map((_, at) => at),
      parents: ids.map((_, at) => at - 1),
      cells: [],
    };
    for (const [tensor, window] of [
      [inputs.mask, null],
      [inputs.windowMask, architecture.window],
    ] as const) {
      const mask = new Float32Array(length * length);
      fillMasks([mask], chunks, 0, block, window);
      device.write(tensor, mask);
    }
    device.write(inputs.ids, Int32Array.from(ids));
    device.write(inputs.positions, Int32Array.from(block.depths));
    device.write(
      inputs.sources,
      Int32Array.from({ length: sources }, (_, at) => at),
    );
    device.write(
      inputs.cells,
      Int32Array.from({ length: sources }, (_, at) => at * architecture.vocabulary + (ids[at + 1] ?? 0)),
    );
    await device.compute(graph.whole);
    const logprobs = [...device.read(top.logprobs, sources)];
    const greedy = Array.from({ length: sources }, (_, at) => {
      const row = device.read(top.logits.tensor, architecture.vocabulary, at * architecture.vocabulary);
      return row.reduce((best, value, token) => (value > (row[best] ?? -Infinity) ? token : best), 0);
    });
    device.freeAllocator(allocator);
    graph.dispose();
    weights.dispose();
    return { logprobs, greedy };
  }

  /** node-llama-cpp's, with keys and values as named. */
  async function engine(file: string, keys: 'F32' | 'F16') {
    const spawner = createNodeSpawner();
    const { service } = testModelService({
      spawner: {
        spawn: (entry, { env }) => spawner.spawn(entry, { env: { ...env, DAYDREAM_KV_CACHE: keys } }),
      },
    });
    const [logprobs = []] = await engineLogprobs(service, file, [{ tokens: Int32Array.from(tokens) }]);
    await service.dispose();
    const model = await llama.loadModel({ modelPath: file });
    const context = await model.createContext({
      contextSize: 256,
      threads: 1,
      batchSize: 128,
      flashAttention: false,
      swaFullCache: true,
      experimentalKvCacheKeyType: keys,
      experimentalKvCacheValueType: keys,
    });
    const results = await context
      .getSequence()
      .controlledEvaluate(tokens.slice(0, -1).map((token) => [token, { generateNext: { token: true } }]));
    const greedy = results.map((result) => result?.next.token ?? NaN);
    await model.dispose();
    return { logprobs, greedy };
  }

  function difference(peer: { logprobs: number[]; greedy: number[] }) {
    const gaps = peer.logprobs.map((value, at) => Math.abs(value - (trained.logprobs[at] ?? NaN)));
    expect(gaps).toHaveLength(compared - 1);
    expect(peer.greedy).toHaveLength(compared - 1);
    return {
      mean: gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length,
      greedy: peer.greedy.filter((token, at) => token === trained.greedy[at]).length / gaps.length,
    };
  }

  it('has node-llama-cpp’s log-probabilities and greedy tokens', async () => {
    const { mean, greedy } = difference(await engine(inFloat(), 'F32'));
    console.log(
      `float32: mean |Δ log p| ${mean.toExponential(1)}, ${(100 * greedy).toFixed(1)} % of greedy tokens`,
    );
    expect(mean).toBeLessThanOrEqual(1e-3);
    expect(greedy).toBeGreaterThanOrEqual(0.99);
  });

  it('is near to what the file does as a policy', async () => {
    const { mean, greedy } = difference(await engine(pretrainedFile, 'F16'));
    console.log(
      `as stored: mean |Δ log p| ${mean.toExponential(1)}, ${(100 * greedy).toFixed(1)} % of greedy tokens`,
    );
    expect(mean).toBeLessThan(0.2);
    expect(greedy).toBeGreaterThan(0.8);
  });

  it('learns from its quantised weights', async () => {
    const row = {
      tokens: Int32Array.from(tokens.slice(0, 32)),
      targets: Int32Array.from({ length: 31 }, (_, at) => at + 1),
    };
    const losses = await withTrainer(fileParams(pretrainedFile), async (trainer) => {
      const found: number[] = [];
      for (let update = 0; update < 3; update += 1) {
        const { loss } = await trainer.step([{ ...row, weights: new Float32Array(31).fill(1 / 31) }], {
          objective: { kind: 'likelihood' },
          learningRate: 2e-3,
          stopNorm: null,
        });
        found.push(loss);
      }
      return found;
    });
    console.log(`losses ${losses.map((loss) => loss.toFixed(3)).join(', ')}`);
    expect(losses[0]).toBeCloseTo(
      -trained.logprobs.slice(0, 31).reduce((sum, value) => sum + value, 0) / 31,
      3,
    );
    expect(losses[2]).toBeLessThan((losses[0] ?? 0) - 0.1);
  });
});
