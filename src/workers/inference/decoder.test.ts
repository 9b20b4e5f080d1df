import { describe, expect, it } from 'vitest';
import { Decoder } from './decoder.ts';
import type { NativeContext } from './native.ts';
import { Slots } from './slots.ts';

type Batch = { sequence: number; start: number; tokens: number[] }[];

/** Records what a batch holds instead of evaluating it. */
function recorder(batches: Batch[]): NativeContext {
  let batch: Batch = [];
  let rows = 0;
  return {
    initBatch: () => {
      batch = [];
      rows = 0;
    },
    addToBatch: (sequence, start, tokens, logits) => {
      batch.push({ sequence, start, tokens: [...tokens] });
      const first = rows;
      rows += tokens.length;
      return logits.map((index) => first + index);
    },
    decodeBatch: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      batches.push(batch);
    },
    sampleToken: () => Promise.resolve([0, undefined, undefined]),
    removeTokenCellsFromSequence: () => true,
    disposeSequence: () => {},
    setThreads: () => {},
    saveSequenceStateToFile: () => Promise.resolve(0),
    loadSequenceStateFromFile: () => Promise.resolve(new Uint32Array()),
    getMemoryBreakdown: () => ({ cpuRam: 0, gpuVram: 0 }),
  };
}

const turnstile = <Result>(work: () => Promise<Result>): Promise<Result> => work();
const nothing = (): void => {};

describe('the batch loop', () => {
  it('decodes sequences that wait together in one batch', async () => {
    const batches: Batch[] = [];
    const decoder = new Decoder(recorder(batches), { batchSize: 64, turnstile });
    const generate = async (sequence: number): Promise<void> => {
      for (let position = 0; position < 5; position += 1) {
        await decoder.decode({ sequence, start: position, tokens: [position], rows: [0] }, nothing);
      }
    };
    await Promise.all(Array.from({ length: 32 }, (_, sequence) => generate(sequence)));
    expect(batches.map((batch) => batch.length)).toEqual([32, 32, 32, 32, 32]);
  });

  it('gives running generations their token before a long prompt gets the rest', async () => {
    const batches: Batch[] = [];
    const decoder = new Decoder(recorder(batches), { batchSize: 8, turnstile });
    const prompt = decoder.decode(
      { sequence: 0, start: 0, tokens: Array<number>(20).fill(1), rows: [19] },
      nothing,
    );
    const token = decoder.decode({ sequence: 1, start: 7, tokens: [2], rows: [0] }, nothing);
    await Promise.all([prompt, token]);
    expect(batches[0]?.map(({ sequence, tokens }) => [sequence, tokens.length])).toEqual([
      [1, 1],
      [0, 7],
    ]);
    expect(batches.slice(1).map(([part]) => [part?.start, part?.tokens.length])).toEqual([
      [7, 8],
      [15, 5],
    ]);
  });

  it('drops an aborted request between two batches and tells what was evaluated', async () => {
    const batches: Batch[] = [];
    const decoder = new Decoder(recorder(batches), { batchSize: 4, turnstile });
    const controller = new AbortController();
    let evaluated = 0;
    const running = decoder.decode(
      { sequence: 0, start: 0, tokens: Array<number>(100).fill(1), rows: [99], signal: controller.signal },
      (count) => {
        evaluated += count;
        if (evaluated === 8) controller.abort(new Error('enough'));
      },
    );
    await expect(running).rejects.toThrow('enough');
    expect(evaluated).toBe(8);
    expect(decoder.evaluated).toBe(8);
  });

  it('fails only the request whose reader failed', async () => {
    const decoder = new Decoder(recorder([]), { batchSize: 4, turnstile });
    const bad = decoder.decode(
      { sequence: 0, start: 0, tokens: [1], rows: [0], onRow: () => Promise.reject(new Error('reader')) },
      nothing,
    );
    const good = decoder.decode({ sequence: 1, start: 0, tokens: [1], rows: [0] }, nothing);
    await expect(bad).rejects.toThrow('reader');
    await expect(good).resolves.toBeUndefined();
  });
});

describe('sequences', () => {
  it('stay with their session and give way by least recent use', async () => {
    const slots = new Slots(2);
    const first = await slots.acquire('a', []);
    slots.release(first, true);
    const second = await slots.acquire('b', []);
    slots.release(second, true);
    expect(await slots.acquire('a', [])).toBe(first);
    slots.release(first, true);
    expect(await slots.acquire('c', [])).toBe(second);
  });

  it('are waited for in order when all are busy, and an aborted waiter steps out', async () => {
    const slots = new Slots(1);
    const only = await slots.acquire('a', []);
    const controller = new AbortController();
    const order: string[] = [];
    const impatient = slots.acquire('b', [], controller.signal);
    const patient = slots.acquire('c', []).then((slot) => {
      order.push('c');
      slots.release(slot, false);
    });
    const late = slots.acquire('d', []).then(() => order.push('d'));
    controller.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    slots.release(only, false);
    await Promise.all([patient, late]);
    expect(order).toEqual(['c', 'd']);
  });

  it('that no session will come back to are taken first, the best cached beginning before others', async () => {
    const slots = new Slots(3);
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((key) => slots.acquire(key, [])));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three slots');
    a.tokens = [1, 2];
    b.tokens = [1, 2, 3, 4];
    slots.release(a, false);
    slots.release(b, false);
    slots.release(c, true);
    expect(await slots.acquire('d', [1, 2, 3])).toBe(b);
    expect(slots.acquireSpare('d', 5)).toEqual([a]);
  });
});
