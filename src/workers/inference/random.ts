import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';

/** The random numbers of one sample: a function of its seed alone. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** For samplers that bring their own generator. */
  seed32(): number;
}

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed | 0);
  // Neighbouring seeds (samples of one request use seed + i) must not give neighbouring first numbers.
  for (let step = 0; step < 8; step += 1) generator.next();
  return { next: () => uniformFloat64(generator), seed32: () => generator.next() >>> 0 };
}
