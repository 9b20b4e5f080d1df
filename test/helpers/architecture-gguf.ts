/** Random float32 models of every architecture that trains, as files that llama.cpp loads. */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { writeGguf } from '#core/llm/index.ts';
import type { GgufTensor } from '#core/llm/index.ts';
import type { trainableArchitectures } from '#shared/worker/trainer.ts';
import type { StoredType } from './quantise.ts';

type Name = (typeof trainableArchitectures)[number];

const heads = 4;
const kvHeads = 2;
/** Not width / heads for the architectures that say it themselves. */
const headSizes: Record<Name, number> = { llama: 16, qwen2: 16, qwen3: 32, gemma3: 32 };
const tokens = [
  ...['<unk>', '<s>', '</s>'],
  ...Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  ...Array.from({ length: 40 }, (_, index) => `▁w${String(index)}`),
  '▁',
];
export const architectureVocabulary = tokens.length;

export function writeArchitectureGguf(
  file: string,
  name: Name,
  options: {
    seed: number;
    linearScale?: number;
    /** Matrices in this type, and wide enough for its blocks; `decoded`: as float32, with the values that the type keeps. */
    stored?: { type: StoredType; decoded: boolean };
  },
): void {
  const { stored } = options;
  const factor = stored === undefined ? 1 : 4;
  const width = 64 * factor;
  const hidden = stored === undefined ? 96 : 256;
  const headSize = headSizes[name] * factor;
  // Gemma 3 looks back without bound in each sixth layer only.
  const layers = name === 'gemma3' ? 7 : 2;
  const number = (value: number) => ({ type: 'uint32', value }) as const;
  const float = (value: number) => ({ type: 'float32', value }) as const;
  const own = (key: string) => `${name}.${key}`;
  const metadata = new Map<
    string,
    Parameters<typeof writeGguf>[1]['metadata'] extends ReadonlyMap<string, infer V> ? V : never
  >([
    ['general.architecture', { type: 'string', value: name }],
    ['general.name', { type: 'string', value: `random ${name}` }],
    ['general.file_type', number(stored === undefined || stored.decoded ? 0 : stored.type.fileType)],
    [own('vocab_size'), number(tokens.length)],
    [own('context_length'), number(256)],
    [own('embedding_length'), number(width)],
    [own('block_count'), number(layers)],
    [own('feed_forward_length'), number(hidden)],
    [own('rope.dimension_count'), number(headSize)],
    [own('rope.freq_base'), float(name === 'gemma3' ? 1_000_000 : 10_000)],
    [own('attention.head_count'), number(heads)],
    [own('attention.head_count_kv'), number(kvHeads)],
    [own('attention.key_length'), number(headSize)],
    [own('attention.value_length'), number(headSize)],
    [own('attention.layer_norm_rms_epsilon'), float(1e-6)],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.tokens', { type: 'strings', value: tokens }],
    ['tokenizer.ggml.scores', { type: 'float32s', value: tokens.map((_, index) => -index) }],
    [
      'tokenizer.ggml.token_type',
      {
        type: 'int32s',
        value: tokens.map((_, index) => (index === 0 ? 2 : index < 3 ? 3 : index < 259 ? 6 : 1)),
      },
    ],
    ['tokenizer.ggml.unknown_token_id', number(0)],
    ['tokenizer.ggml.bos_token_id', number(1)],
    ['tokenizer.ggml.eos_token_id', number(2)],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
  ]);
  if (name === 'gemma3') metadata.set(own('attention.sliding_window'), number(8));
  if (options.linearScale !== undefined) {
    metadata.set(own('rope.scaling.type'), { type: 'string', value: 'linear' });
    metadata.set(own('rope.scaling.factor'), float(options.linearScale));
  }
  const generator = xoroshiro128plus(options.seed);
  const spread = () => (uniformFloat64(generator) - 0.5) * 2;
  const tensor = (label: string, shape: number[], value: () => number) => ({
    name: label,
    shape,
    data: () => Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, value),
  });
  const matrix = (label: string, inputs: number, outputs: number) =>
    tensor(label, [inputs, outputs], () => spread() * Math.sqrt(3 / inputs));
  const norm = (label: string, size: number) => tensor(label, [size], () => 1 + spread() * 0.3);
  const bias = (label: string, size: number) => tensor(label, [size], () => spread() * 0.5);
  const tensors = [
    tensor('token_embd.weight', [width, tokens.length], spread),
    norm('output_norm.weight', width),
  ];
  // Two of the four have their own unembedding, two share the table.
  if (name === 'llama' || name === 'qwen3') tensors.push(matrix('output.weight', width, tokens.length));
  if (name === 'llama')
    tensors.push(tensor('rope_freqs.weight', [headSize / 2], () => 1 + Math.abs(spread())));
  for (let layer = 0; layer < layers; layer += 1) {
    const part = (label: string) => `blk.${String(layer)}.${label}`;
    tensors.push(
      norm(part('attn_norm.weight'), width),
      matrix(part('attn_q.weight'), width, heads * headSize),
      matrix(part('attn_k.weight'), width, kvHeads * headSize),
      matrix(part('attn_v.weight'), width, kvHeads * headSize),
      matrix(part('attn_output.weight'), heads * headSize, width),
      norm(part('ffn_norm.weight'), width),
      matrix(part('ffn_gate.weight'), width, hidden),
      matrix(part('ffn_up.weight'), width, hidden),
      matrix(part('ffn_down.weight'), hidden, width),
    );
    if (name === 'qwen2') {
      tensors.push(
        bias(part('attn_q.bias'), heads * headSize),
        bias(part('attn_k.bias'), kvHeads * headSize),
        bias(part('attn_v.bias'), kvHeads * headSize),
      );
    }
    if (name === 'qwen3' || name === 'gemma3') {
      tensors.push(norm(part('attn_q_norm.weight'), headSize), norm(part('attn_k_norm.weight'), headSize));
    }
    if (name === 'gemma3') {
      tensors.push(
        norm(part('post_attention_norm.weight'), width),
        norm(part('post_ffw_norm.weight'), width),
      );
    }
  }
  writeGguf(file, {
    metadata,
    tensors: stored === undefined ? tensors : tensors.map((made) => storedAs(made, stored)),
  });
}

function storedAs(
  { name, shape, data }: { name: string; shape: number[]; data: () => Float32Array },
  { type, decoded }: { type: StoredType; decoded: boolean },
): GgufTensor {
  if (shape.length === 1) return { name, shape, data };
  const bytes = type.encode(data());
  return decoded
    ? { name, shape, data: () => type.decode(bytes) }
    : { name, shape, type: { code: type.code, bytes: bytes.length }, data: () => bytes };
}
