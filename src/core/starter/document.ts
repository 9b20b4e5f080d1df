/** One training text: chat messages with a loss weight each, and the same as token ids. */
import type { AgentState } from '#core/agents/index.ts';
import { encodeConversation } from '#core/starter/chat-format.ts';
import type { ChatMessage } from '#core/starter/chat-format.ts';
import type { Tokenizer } from '#core/starter/tokenizer.ts';

export const documentKinds = ['errand', 'search', 'play', 'prediction', 'reflection', 'generation'] as const;
export type DocumentKind = (typeof documentKinds)[number];

export interface WeightedMessage extends ChatMessage {
  /** Of each token that its author writes, `<|end|>` included; 0: shown, not learned. */
  weight: number;
}

export interface TextDocument {
  kind: DocumentKind;
  /** `errand` or an environment's id. */
  world: string;
  messages: WeightedMessage[];
}

/** Weight 1 is 100. */
export interface EncodedDocument {
  ids: Uint16Array;
  /** weights[i] belongs to predicting ids[i] from what stands before it; role tokens and `<s>` have 0. */
  weights: Uint8Array;
}

export interface LossWeights {
  action: number;
  /** Of the actions of a long search: they alone tell where nobody has looked yet, and they are few. */
  search: number;
  observation: number;
}

/** What was shown, done and answered, step by step. The loss leaves out actions that are there only to be refused. */
export interface Trajectory {
  world: string;
  /** `history` holds every step, `observation` what the last one showed. */
  state: AgentState;
  /** One a step: whether its action is worth learning. */
  learned: boolean[];
}

/** The beginning of a trajectory: its first `steps` steps. */
export function prefixOf({ state }: Trajectory, steps: number): AgentState {
  const observation = state.history[steps]?.observation ?? state.observation;
  return { ...state, history: state.history.slice(0, steps), observation };
}

export function encodeDocument({ messages }: TextDocument, tokenizer: Tokenizer): EncodedDocument {
  const { ids, spans } = encodeConversation(messages, tokenizer);
  const weights = new Uint8Array(ids.length);
  messages.forEach(({ weight }, index) => {
    const span = spans[index];
    if (span !== undefined) weights.fill(Math.round(weight * 100), span.start, span.end);
  });
  return { ids: Uint16Array.from(ids), weights };
}
