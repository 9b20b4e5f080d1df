/**
 * Weights before any training: norms 1, embeddings N(0, 0.02²), matrices N(0, 1/inputs), those that write into the residual stream
 * smaller by √(2·layers) (GPT-2's rule). Each tensor has a stream of its own, so the same seed gives the same tensor in any order.
 *
 * Copying needs a head that looks one token back before a later one can find “what followed this word last time” (induction, Olsson
 * et al. 2022), and small models wait long for it. So the first heads of the first layer begin as such: one coordinate of all
 * embeddings is constant, queries and keys of these heads read only that one, and RoPE turns them so that their product is largest
 * 1, 2, … tokens back. Training may change all of it.
 */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';

export interface InitialWeights {
  seed: number;
  layers: number;
  heads: number;
  /** How many heads of the first layer begin by looking 1, 2, … tokens back. */
  previousTokens: number;
}

const embeddingDeviation = 0.02;
/** The constant coordinate: about 4.5 after the norm, at a width of 128. */
const constant = 0.1;
/** Query and key after the norm: their product over √headSize is about 9 a pair of coordinates. */
const strength = 7;
const ropeBase = 10_000;

/** @returns values of a tensor by llama.cpp's name and its shape in GGUF order */
export function initialWeights(
  options: InitialWeights,
): (name: string, shape: readonly number[]) => Float32Array {
  return (name, shape) => {
    const [inputs = 1, outputs] = shape;
    if (outputs === undefined) return new Float32Array(inputs).fill(1);
    const isEmbedding = name === 'token_embd.weight';
    const residual = /attn_output|ffn_down/u.test(name) ? 1 / Math.sqrt(2 * options.layers) : 1;
    const deviation = isEmbedding ? embeddingDeviation : residual / Math.sqrt(inputs);
    const values = normalValues(inputs * outputs, deviation, nameSeed(options.seed, name));
    if (options.previousTokens === 0) return values;
    if (isEmbedding) levelRows(values, inputs);
    const part = /^blk\.0\.attn_([qk])\.weight$/u.exec(name)?.[1];
    if (part !== undefined) lookBack(values, inputs, part === 'q', options);
    return values;
  };
}

/** Each row gets the same length and the constant, so that after the norm the constant is the same for all tokens. */
function levelRows(embeddings: Float32Array, width: number): void {
  for (let from = 0; from < embeddings.length; from += width) {
    const row = embeddings.subarray(from, from + width);
    row[0] = 0;
    const length = Math.sqrt(row.reduce((sum, value) => sum + value ** 2, 0) / width);
    for (let index = 1; index < width; index += 1)
      row[index] = ((row[index] ?? 0) / length) * embeddingDeviation;
    row[0] = constant;
  }
}

/** Overwrites the rows of the first heads. `values` is [output][input]. */
function lookBack(values: Float32Array, width: number, isQuery: boolean, options: InitialWeights): void {
  const headSize = width / options.heads;
  const norm = Math.sqrt(embeddingDeviation ** 2 + constant ** 2 / width);
  const size = (strength * norm) / constant;
  for (let head = 0; head < options.previousTokens; head += 1) {
    values.fill(0, head * headSize * width, (head + 1) * headSize * width);
    for (let pair = 0; pair < headSize / 2; pair += 1) {
      // RoPE turns the pair by position · angle; a query that is turned back by (head + 1) · angle meets the key that far before it.
      const turn = ropeBase ** ((-2 * pair) / headSize);
      // What turns slowly tells near from far hardly at all.
      if (turn < 0.05) break;
      const angle = isQuery ? -(head + 1) * turn : 0;
      const row = head * headSize + 2 * pair;
      values[row * width] = size * Math.cos(angle);
      values[(row + 1) * width] = size * Math.sin(angle);
    }
  }
}

/** Box–Muller. */
function normalValues(count: number, deviation: number, seed: number): Float32Array {
  const generator = xoroshiro128plus(seed);
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(generator)));
    return deviation * radius * Math.cos(2 * Math.PI * uniformFloat64(generator));
  });
}

function nameSeed(seed: number, name: string): number {
  let mixed = seed;
  for (let index = 0; index < name.length; index += 1) {
    mixed = Math.imul(mixed ^ name.charCodeAt(index), 0x01000193);
  }
  return mixed >>> 0;
}
