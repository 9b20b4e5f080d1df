/** What every exported line must satisfy; each failure is a bug or a leak, so it is named, never repaired in silence. */
import type { PlainMessage, SftRow } from '#shared/schema/dataset.ts';
import { trainingSplit } from '#shared/schema/environment.ts';
import { sftRowSchema } from '#shared/schema/dataset.ts';

export interface RowLimits {
  /** Longest row, all messages together, in characters; null for no limit. */
  maxCharacters: number | null;
}

/** Problems of the data rather than of the builder: such a row is left out whole and counted; every other one stops the export. */
export type SoftProblem = 'overlong' | 'repetition';

export interface RowProblem {
  kind: SoftProblem | 'schema' | 'split' | 'roles' | 'target' | 'id';
  reason: string;
}

/** As one reads it: `roles: …`. */
export function problemText({ kind, reason }: RowProblem): string {
  return `${kind}: ${reason}`;
}

export function isSoft(problem: RowProblem): problem is RowProblem & { kind: SoftProblem } {
  return problem.kind === 'overlong' || problem.kind === 'repetition';
}

/** @returns why the row must not be trained on; null when it is sound */
export function rowProblem(row: SftRow, limits: RowLimits): RowProblem | null {
  const parsed = sftRowSchema.safeParse(row);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { kind: 'schema', reason: `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim() };
  }
  if (row.meta.split !== trainingSplit)
    return { kind: 'split', reason: `a task of ${row.meta.split} must not be trained on` };
  return (
    roleProblem(row.messages) ??
    targetProblem(row) ??
    repetitionProblem(row.messages) ??
    lengthProblem(row, limits)
  );
}

/** An optional system message, then user and assistant in turn, the assistant last. */
function roleProblem(messages: readonly PlainMessage[]): RowProblem | null {
  const turns = messages[0]?.role === 'system' ? messages.slice(1) : messages;
  const wrong = turns.findIndex(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant'));
  if (wrong !== -1) {
    const reason = `message ${String(wrong)} is from ${turns[wrong]?.role ?? 'nobody'}, out of turn`;
    return { kind: 'roles', reason };
  }
  return turns.at(-1)?.role === 'assistant'
    ? null
    : { kind: 'roles', reason: 'the last message is not the assistant’s' };
}

function targetProblem({ messages, meta }: SftRow): RowProblem | null {
  const target = messages.at(-1)?.content.trim() ?? '';
  if (target === '') return { kind: 'target', reason: 'empty' };
  if (meta.kind === 'iwm') {
    return /^Observation:\s*\S/u.test(target)
      ? null
      : { kind: 'target', reason: 'no “Observation:” with a text after it' };
  }
  const ends = target.toLowerCase().endsWith(`<action>${meta.action.toLowerCase()}</action>`);
  return ends ? null : { kind: 'target', reason: 'does not end with the action that was taken' };
}

/** Characters below which a repeated message is no sign of anything. */
const LONG = 80;

/**
 * A builder that shared a list between rows once doubled the text of 8,677 records, past all role checks. Two signs: the same
 * long message twice in a row of messages that should each add something, or a message that is its own first half twice.
 */
function repetitionProblem(messages: readonly PlainMessage[]): RowProblem | null {
  let previous = '';
  for (const { role, content } of messages) {
    if (role !== 'user') continue;
    const half = content.length / 2;
    if (content.length >= LONG && Number.isInteger(half) && content.slice(0, half) === content.slice(half)) {
      return { kind: 'repetition', reason: 'a message is the same text twice' };
    }
    // A list of actions may grow at its end; a whole message before another one is a shared list.
    const rest =
      previous.length >= LONG && content.startsWith(previous) ? content.slice(previous.length) : '';
    if (rest.trim() !== '' && !rest.startsWith('\n- '))
      return { kind: 'repetition', reason: 'a message holds the whole message before it' };
    previous = content;
  }
  if (messages.filter(({ role }) => role === 'system').length > 1)
    return { kind: 'repetition', reason: 'more than one system message' };
  return null;
}

function lengthProblem(row: SftRow, { maxCharacters }: RowLimits): RowProblem | null {
  if (maxCharacters === null) return null;
  const length = row.messages.reduce((sum, { content }) => sum + content.length, 0);
  return length > maxCharacters
    ? {
        kind: 'overlong',
        reason: `${String(length)} characters, at most ${String(maxCharacters)} fit the prompt limit`,
      }
    : null;
}
