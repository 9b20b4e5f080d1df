/** The forward pass of a decoder over blocks of tokens, on a tape. Logits only where they are asked for. */
import type { Chunk } from '#shared/worker/attention-chunks.ts';
import type { Architecture } from '#shared/worker/trainer.ts';
import { ropeOf, windowed } from './architecture.ts';
import { attention } from './attention.ts';
import type { Tensor } from './graph.ts';
import type { Adapter, Tape, Value, Weight } from './tape.ts';

/** The weights of a model by their GGUF names. */
export interface ModelWeights {
  get(name: string): Weight;
  find(name: string): Weight | null;
  /** The adapter of that matrix, null when it has none or adapters are off. */
  adapter(name: string): Adapter | null;
}

/** A batch of `blocks` blocks of `length` tokens; all tensors are inputs. */
export interface BlockInputs {
  /** [length · blocks] */
  ids: Tensor;
  /** [length · blocks]: the depth of each token in its tree, and the same negated. */
  positions: Tensor;
  /** null when nobody goes back. */
  negatedPositions: Tensor | null;
  chunks: readonly Chunk[];
  /** By chunk, [to keys, to − from queries, 1, blocks]: 0 where the key is the query or one of its ancestors, else −∞ */
  masks: readonly Tensor[];
  /** The same for sliding-window layers; null when there are none. */
  windowMasks: readonly Tensor[] | null;
  length: number;
  blocks: number;
}

/** → hidden states after the last norm [width, length · blocks] */
export function hiddenStates(tape: Tape, a: Architecture, weights: ModelWeights, inputs: BlockInputs): Value {
  const tokens = inputs.length * inputs.blocks;
  const positions = { there: inputs.positions, back: inputs.negatedPositions };
  const factors = weights.find('rope_freqs.weight')?.tensor ?? null;

  let x = tape.embed(weights.get('token_embd.weight'), inputs.ids);
  if (a.name === 'gemma3') x = tape.scale(x, Math.sqrt(a.width));
  for (let layer = 0; layer < a.layers; layer += 1) {
    const name = (part: string): string => `blk.${layer}.${part}`;
    const linear = (input: Value, part: string): Value =>
      tape.linear(
        input,
        weights.get(name(`${part}.weight`)),
        weights.find(name(`${part}.bias`)),
        weights.adapter(name(`${part}.weight`)),
      );
    const norm = (input: Value, part: string): Value =>
      tape.rmsNorm(input, weights.get(name(`${part}.weight`)), a.epsilon);
    const headNorm = (input: Value, part: string): Value =>
      weights.find(name(`${part}.weight`)) === null ? input : norm(input, part);
    const local = windowed(a, layer);
    const rope = ropeOf(a, layer);
    const turned = (input: Value, part: string, heads: number): Value =>
      tape.rope(
        headNorm(tape.reshape(linear(input, part), a.headSize, heads, tokens), `${part}_norm`),
        positions,
        local ? null : factors,
        rope,
      );

    const attended = norm(x, 'attn_norm');
    let mixed = attention(
      tape,
      turned(attended, 'attn_q', a.heads),
      turned(attended, 'attn_k', a.kvHeads),
      tape.reshape(linear(attended, 'attn_v'), a.headSize, a.kvHeads, tokens),
      {
        chunks: inputs.chunks,
        masks: local && inputs.windowMasks !== null ? inputs.windowMasks : inputs.masks,
        scale: a.attentionScale,
        length: inputs.length,
        blocks: inputs.blocks,
      },
    );
    mixed = linear(mixed, 'attn_output');
    if (a.name === 'gemma3') mixed = norm(mixed, 'post_attention_norm');
    x = tape.add(x, mixed);

    const inside = norm(x, 'ffn_norm');
    let fed = tape.gated(
      linear(inside, 'ffn_gate'),
      linear(inside, 'ffn_up'),
      a.name === 'gemma3' ? 'gelu' : 'silu',
    );
    fed = linear(fed, 'ffn_down');
    if (a.name === 'gemma3') fed = norm(fed, 'post_ffw_norm');
    x = tape.add(x, fed);
  }
  return tape.rmsNorm(x, weights.get('output_norm.weight'), a.epsilon);
}

/** Where logits are wanted, and which of them; all tensors are inputs. */
export interface TargetInputs {
  /** [sources] i32: the tokens after which something is predicted */
  sources: Tensor;
  /** [targets] i32 (`cellsWide`: the same as i64): source index · vocabulary + token id; each pair once */
  cells: Tensor;
}

/** What the way back needs beside them. */
export interface SeedInputs {
  cellsWide: Tensor;
  /** [1, targets]: weight of each target's log-probability in the objective; [1, sources]: their sum by source */
  weights: Tensor;
  sourceWeights: Tensor;
}

export interface Head {
  /** [1, targets] */
  logprobs: Tensor;
  /** Gradient of −Σ weights · log-probabilities with respect to the logits, and the logits it belongs to. */
  logits: Value;
  /** Hidden states at the sources [width, sources], for a value head. */
  picked: Value;
  seed(inputs: SeedInputs): Tensor;
}

/** The unembedding at the sources only, and the primitive of every loss: d(−Σ w log p) = w (soft-max − one-hot). */
export function head(tape: Tape, weights: ModelWeights, hidden: Value, targets: TargetInputs): Head {
  const g = tape.graph;
  const table = weights.find('output.weight') ?? weights.get('token_embd.weight');
  const picked = tape.pick(hidden, targets.sources);
  const logits = tape.linear(picked, table, null, null);
  const probabilities = g.softmax(logits.tensor, null, 1);
  const [vocabulary, sources] = logits.tensor.shape;
  const cells = vocabulary * sources;
  const chosen = g.rows(g.reshape(probabilities, 1, cells), targets.cells);
  // log of the smallest normal float: a probability below it has lost its digits.
  const tiny = 1.2e-38;
  const logprobs = g.log(g.clamp(chosen, tiny, 1));
  return {
    logprobs,
    logits,
    picked,
    seed: (inputs) => {
      const spread = g.multiply(probabilities, inputs.sourceWeights);
      // At the target's cell the gradient is Σ w p − w; Σ w p stands there already.
      const here = g.rows(g.reshape(spread, 1, cells), targets.cells);
      return g.reshape(
        g.setRows(g.reshape(spread, 1, cells), g.subtract(here, inputs.weights), inputs.cellsWide),
        vocabulary,
        sources,
      );
    },
  };
}
