/** What a back-end without the operations of the way back (Metal) computes: their composed forms, forced here on the processor. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trainableArchitectures } from '#shared/worker/trainer.ts';
import { branches, gradientOfRows, smallModes, smallTrainer } from '#test/helpers/small-trainer.ts';
import { Device } from './device.ts';
import { Graph } from './graph.ts';
import { libraryFolder, openLibrary } from './library.ts';
import { selfTest } from './self-test.ts';

let direct: Device;
let composed: Device;
beforeAll(() => {
  const library = openLibrary(libraryFolder('cpu'));
  direct = Device.open(library, 'cpu', 1);
  composed = Device.open(library, 'cpu', 1, { composed: true });
});
afterAll(() => {
  direct.dispose();
  composed.dispose();
});

describe.each(trainableArchitectures)('%s', (name) => {
  it.each(smallModes)('has the same gradients by composed operations: $kind', async (mode) => {
    const rows = branches();
    const a = smallTrainer(direct, name, mode, true);
    const b = smallTrainer(composed, name, mode, true);
    const expected = await gradientOfRows(a.trainer, rows);
    const found = await gradientOfRows(b.trainer, rows);
    expect(found.loss).toBeCloseTo(expected.loss, 5);
    for (const [tensor, values] of Object.entries(expected.gradients)) {
      const other = found.gradients[tensor] ?? new Float32Array();
      const gap = Math.hypot(...values.map((value, index) => value - (other[index] ?? NaN)));
      expect(gap / Math.hypot(...values), tensor).toBeLessThan(1e-5);
    }
    a.trainer.dispose();
    b.trainer.dispose();
  });
});

it('uses none of the operations that Metal lacks', () => {
  const used = (device: Device): Set<string> => {
    const graph = new Graph(device, 64);
    const x = graph.input('f32', 16, 8);
    const d = graph.input('f32', 16, 8);
    const norm = graph.input('f32', 16);
    const ids = graph.input('i32', 8);
    graph.expand(graph.outer(x, d));
    graph.expand(graph.rmsNormBack(d, x, 1e-5));
    graph.expand(graph.sumTo(d, norm));
    graph.expand(graph.rowsBack(d, ids, graph.input('f32', 16, 40)));
    const names = new Set(
      Array.from({ length: graph.nodes }, (_, index) =>
        String(
          device.library.call('ggml_op_desc', device.library.call('ggml_graph_node', graph.whole, index)),
        ),
      ),
    );
    graph.dispose();
    return names;
  };
  const lacking = ['OUT_PROD', 'RMS_NORM_BACK', 'REPEAT_BACK', 'GET_ROWS_BACK'];
  expect([...used(direct)]).toEqual(expect.arrayContaining(lacking));
  expect(lacking.filter((operation) => used(composed).has(operation))).toEqual([]);
});

it('passes the start-up check', async () => {
  expect(await selfTest(composed)).toBeLessThan(5e-3);
});

it('refuses by name what a back-end lacks, before it computes anything', () => {
  const graph = new Graph(direct, 8);
  // The processor has no product of float32 with halves on this side.
  const product = graph.matmul(graph.input('f32', 32, 8), graph.input('f16', 32, 8));
  graph.expand(product);
  const allocator = direct.newAllocator();
  expect(() => direct.place(allocator, graph.whole)).toThrow(
    /cannot train this model: its driver lacks MUL_MAT/,
  );
  direct.freeAllocator(allocator);
  graph.dispose();
});
