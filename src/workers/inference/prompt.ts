/**
 * Messages → token ids. Two formats (docs/guide/models.md): the GGUF's own chat template, or the completion format for base
 * models. An assistant message that carries its sampled ids is spliced in as those ids: the conversation is rendered once with
 * marks in place of such messages, cut at the marks, and only the text between is tokenised. Where a template rewrites what
 * the assistant said (some drop earlier thoughts), splicing would change the prompt, so its own text is tokenised and
 * `spliced` says so.
 */
import { Template } from '@huggingface/jinja';
import { sentence } from '#shared/sentence.ts';
import type { GenerateParams } from '#shared/worker/inference.ts';
import { AppError } from '#shared/errors.ts';

export type Message = GenerateParams['messages'][number];

export interface Vocabulary {
  /** With `special`, text such as `<|im_end|>` becomes the control token. `first`: nothing stands before it. */
  tokenize(text: string, options: { special: boolean; first: boolean }): number[];
  /** Control tokens as text too. */
  textOf(tokens: readonly number[]): string;
  /** Texts of control tokens, which plain content must not be able to forge. */
  controlTexts: ReadonlySet<string>;
  bos: number | null;
  bosText: string;
  eosText: string;
  prependBos: boolean;
}

export interface RenderedPrompt {
  text: string;
  tokens: number[];
  spliced: boolean;
}

type Segment =
  | { kind: 'text'; text: string }
  | { kind: 'plain'; text: string }
  | { kind: 'tokens'; tokens: readonly number[] };

/** The completion format's turn marks; a base model ends its turn by opening the next mark. */
const mark = { system: '### Instruction:\n', user: '### Input:\n', assistant: '### Response:\n' } as const;
export const completionStop = '\n###';

export function renderPrompt(
  messages: readonly Message[],
  format: { template: string | null },
  vocabulary: Vocabulary,
): RenderedPrompt {
  const render = (list: readonly Message[]): string =>
    format.template === null ? renderCompletion(list) : renderTemplate(format.template, list, vocabulary);
  const { segments, spliced } = cut(messages, render, vocabulary);
  return { ...tokenizeSegments(segments, vocabulary), spliced };
}

function renderCompletion(messages: readonly Message[]): string {
  const turns = messages.map(({ role, content }) => `${mark[role]}${content}\n\n`);
  return `${turns.join('')}${mark.assistant}`;
}

function renderTemplate(template: string, messages: readonly Message[], vocabulary: Vocabulary): string {
  const values = {
    bos_token: vocabulary.bosText,
    eos_token: vocabulary.eosText,
    add_generation_prompt: true,
  };
  const parsed = new Template(template);
  const plain = messages.map(({ role, content }) => ({ role, content }));
  try {
    return parsed.render({ ...values, messages: plain });
  } catch (error) {
    // Some templates (Gemma's) refuse a system turn: its text then opens the first user turn.
    const [system, user, ...rest] = plain;
    if (system?.role !== 'system' || user?.role !== 'user') throw templateFailure(error);
    const merged = [{ role: 'user', content: `${system.content}\n\n${user.content}` }, ...rest];
    try {
      return parsed.render({ ...values, messages: merged });
    } catch (second) {
      throw templateFailure(second);
    }
  }
}

function templateFailure(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError({
    code: 'INVALID_INPUT',
    message: `The model's chat template could not render this conversation: ${sentence(reason)} Choose the completion format for this model.`,
    cause: error,
  });
}

function cut(
  messages: readonly Message[],
  render: (messages: readonly Message[]) => string,
  vocabulary: Vocabulary,
): { segments: Segment[]; spliced: boolean } {
  const whole = render(messages);
  const apart = messages.flatMap((message, index) =>
    message.tokens !== undefined || forgesControl(message.content, vocabulary) ? [index] : [],
  );
  if (apart.length === 0) return { segments: [{ kind: 'text', text: whole }], spliced: true };
  const nonce = freshNonce(whole);
  const sentinel = (index: number): string => `[${nonce}:${index}]`;
  const marked = render(
    messages.map((message, index) =>
      apart.includes(index) ? { ...message, content: sentinel(index) } : message,
    ),
  );
  const segments: Segment[] = [];
  let rest = marked;
  let rebuilt = '';
  for (const index of apart) {
    const message = messages[index];
    const at = rest.indexOf(sentinel(index));
    if (message === undefined || at < 0) return { segments: [{ kind: 'text', text: whole }], spliced: false };
    const before = rest.slice(0, at);
    segments.push({ kind: 'text', text: before });
    segments.push(
      message.tokens === undefined
        ? { kind: 'plain', text: message.content }
        : { kind: 'tokens', tokens: message.tokens },
    );
    rebuilt += before + message.content;
    rest = rest.slice(at + sentinel(index).length);
  }
  segments.push({ kind: 'text', text: rest });
  if (squeeze(rebuilt + rest) === squeeze(whole)) return { segments, spliced: true };
  return { segments: [{ kind: 'text', text: whole }], spliced: false };
}

/** Templates may trim a message; that alone is no rewriting. */
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

function freshNonce(text: string): string {
  let number = 0;
  while (text.includes(`mark-${number}`)) number += 1;
  return `mark-${number}`;
}

const controlLike = /<[^<>\s]{1,60}>|\[[^[\]\s]{1,60}\]/g;

function forgesControl(content: string, vocabulary: Vocabulary): boolean {
  for (const [text] of content.matchAll(controlLike)) if (vocabulary.controlTexts.has(text)) return true;
  return false;
}

function tokenizeSegments(
  segments: readonly Segment[],
  vocabulary: Vocabulary,
): { text: string; tokens: number[] } {
  const tokens: number[] = [];
  let text = '';
  let sampled = false;
  for (const segment of segments) {
    if (segment.kind === 'tokens') {
      sampled = true;
      for (const token of segment.tokens) tokens.push(token);
      text += vocabulary.textOf(segment.tokens);
      continue;
    }
    const fresh = segment.text.slice(sampled ? alreadyWritten(text, segment.text) : 0);
    sampled = false;
    if (fresh === '') continue;
    const ids = vocabulary.tokenize(fresh, { special: segment.kind === 'text', first: tokens.length === 0 });
    for (const token of ids) tokens.push(token);
    text += fresh;
  }
  if (vocabulary.prependBos && vocabulary.bos !== null && tokens[0] !== vocabulary.bos) {
    tokens.unshift(vocabulary.bos);
  }
  return { text, tokens };
}

/**
 * How much of `next` the model wrote itself: its end-of-turn token, or the line that opens the next mark. A shorter agreement
 * (a single `<` or `#`) is chance and would tear a mark apart.
 */
function alreadyWritten(written: string, next: string): number {
  for (let length = Math.min(written.length, next.length); length > 0; length -= 1) {
    const shared = next.slice(0, length);
    if (/(?:[>\]|\n]|###)\s*$/.test(shared) && written.endsWith(shared)) return length;
  }
  return 0;
}
