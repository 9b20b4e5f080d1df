/** PyTorch as the peer: trains in a Python that has it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { OpenParams, TrainRow } from '#shared/worker/trainer.ts';
import { findTorchPython } from '../../scripts/lib/torch-python.ts';
import type { TorchPython } from '../../scripts/lib/torch-python.ts';

const driver = fileURLToPath(new URL('torch-train.py', import.meta.url));

export type Torch = TorchPython | { missing: string };

/** @returns why there is none in `missing` */
export function findTorch(say: (line: string) => void): Torch {
  try {
    return findTorchPython(say);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { missing: `${reason.slice(0, 300)} Set DAYDREAM_ORACLE_PYTHON to a Python that has it.` };
  }
}

const answerSchema = z.object({ losses: z.array(z.number()), seconds: z.number() });

export interface TorchTrainer {
  train(rows: readonly TrainRow[], steps: number): Promise<z.infer<typeof answerSchema>>;
  close(): void;
}

/** LoRA on the same file; on the same GPU for CUDA, else on the processor. */
export function startTorch(
  python: string,
  { architecture, base, mode, threads, device }: OpenParams,
  { bfloat16 }: { bfloat16: boolean },
): TorchTrainer {
  if (base.kind !== 'file' || mode.kind !== 'lora') throw new Error('the peer trains adapters of a file');
  const request = {
    architecture,
    file: base.file,
    tensors: base.tensors,
    rank: mode.lora.rank,
    alpha: mode.lora.alpha,
    threads,
    bfloat16,
    device: device === 'cuda' ? 'cuda' : 'cpu',
  };
  const child = spawn(python, [driver], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2000);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(request)}\n`);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    train: async (rows, steps) => {
      const work = {
        steps,
        rows: rows.map(({ tokens }) => [...tokens]),
        targets: rows.map(({ targets }) => [...targets]),
      };
      child.stdin.write(`${JSON.stringify(work)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the PyTorch driver ended: ${complaint}`);
      return answerSchema.parse(JSON.parse(value));
    },
    close: () => {
      child.kill();
    },
  };
}
