/**
 * Reads `<think>…</think><action>…</action>`. Total: any text gives an answer with a status, and only `ok` is a clean one.
 *
 * - The thought may be missing, unclosed (it then ends at the action), or opened by the chat template (only `</think>` is
 *   there). Action tags inside a closed thought are quotations, not actions.
 * - Of several actions the first is taken: what follows it is the model continuing the world by itself.
 */
import type { ParseStatus } from '#shared/schema/episode.ts';

export interface Answer {
  status: ParseStatus;
  thought: string | null;
  /** As written, trimmed to one line; empty where none was found. */
  action: string;
}

const ACTION_OPEN = /<action>/iu;
const ACTION_CLOSE = /<\/action>/iu;

export function parseAnswer(text: string): Answer {
  const { thought, rest } = splitThought(text);
  const open = ACTION_OPEN.exec(rest);
  if (open === null) return { status: 'no-action', thought, action: '' };
  const body = rest.slice(open.index + open[0].length);
  const close = ACTION_CLOSE.exec(body);
  if (close === null) return { status: 'unclosed', thought, action: firstLine(body) };
  const action = oneLine(body.slice(0, close.index));
  if (action === '') return { status: 'empty-action', thought, action };
  const more = ACTION_OPEN.test(body.slice(close.index + close[0].length));
  return { status: more ? 'several-actions' : 'ok', thought, action };
}

/** The inverse for a clean answer: what a training target looks like. */
export function formatAnswer(answer: { thought: string | null; action: string }): string {
  const thought = answer.thought?.trim() ?? '';
  const written = thought === '' ? '' : `<think>${thought}</think>`;
  return `${written}<action>${answer.action}</action>`;
}

function splitThought(text: string): { thought: string | null; rest: string } {
  const open = /<think>/iu.exec(text);
  const close = /<\/think>/iu.exec(text);
  const action = ACTION_OPEN.exec(text);
  if (close !== null && (open === null || open.index < close.index)) {
    const start = open === null ? 0 : open.index + open[0].length;
    return {
      thought: filled(text.slice(start, close.index)),
      rest: text.slice(close.index + close[0].length),
    };
  }
  if (open !== null && (action === null || open.index < action.index)) {
    const end = action?.index ?? text.length;
    return { thought: filled(text.slice(open.index + open[0].length, end)), rest: text.slice(end) };
  }
  return { thought: null, rest: text };
}

function filled(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === '' ? null : trimmed;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

/** An unclosed action was cut off or forgot its tag; a tag or a new line ends it. */
function firstLine(text: string): string {
  return oneLine(text.trim().split(/[\n<]/u, 1)[0] ?? '');
}
