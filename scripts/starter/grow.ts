/**
 * More layers for a trained starter: behind every layer stands a copy of it that adds nothing yet (its two output matrices are 0), so the
 * grown model says what the old one said, and its training goes on from there (function-preserving growth, Chen et al. 2016, Net2Net).
 */
import { writeStarterGguf } from '../../src/core/starter/index.ts';
import type { StarterShape, Tokenizer } from '../../src/core/starter/index.ts';
import { createTrainer, openTrainer } from './pretrain.ts';

/** Writes `to` with twice the layers of `model`. @param shape of `model` */
export async function grow(options: {
  model: string;
  to: string;
  shape: StarterShape;
  tokenizer: Tokenizer;
}): Promise<void> {
  const trainer = createTrainer();
  try {
    await openTrainer(trainer, options.model, { muonFactor: 1, seed: 1, threads: 1 });
    const old = new Map((await trainer.weights()).map(({ name, values }) => [name, values]));
    writeStarterGguf(options.to, {
      name: 'Daydream starter, grown',
      description: 'Twice the layers of a trained starter: the beginning of more pre-training.',
      shape: { ...options.shape, layers: 2 * options.shape.layers },
      tokenizer: options.tokenizer,
      type: 'F32',
      weights: (name) => {
        const layer = Number(/^blk\.(\d+)\./u.exec(name)?.[1] ?? 0);
        const source = name.replace(/^blk\.\d+/u, `blk.${String(Math.floor(layer / 2))}`);
        const values = old.get(source);
        if (values === undefined) throw new RangeError(`${options.model} has no ${source}.`);
        const isNew = layer % 2 === 1 && /\.(?:attn_output|ffn_down)\./u.test(name);
        return isNew ? new Float32Array(values.length) : values;
      },
    });
  } finally {
    await trainer.close();
  }
}
