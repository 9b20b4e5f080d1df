/** Confines an answer to the admissible actions, so that even random weights act. It hides invalid actions: off by default. */
import type { GrammarSpec } from '#core/llm/port.ts';

/**
 * Printable ASCII without `<`, one character a token at least, so the bound below keeps room for the action.
 * [TAB and new line are left out: a thought stays on one line.]
 */
const THOUGHT_CHARACTER = '[ -;=-~]';
const LONGEST_THOUGHT = 300;
const LONGEST_FREE_ACTION = 200;

export interface GrammarOptions {
  admissible: readonly string[] | null;
  thought: boolean;
  maxTokens: number;
}

export function actionGrammar({ admissible, thought, maxTokens }: GrammarOptions): GrammarSpec {
  const actions = admissible !== null && admissible.length > 0 ? [...new Set(admissible)] : null;
  if (actions !== null && !thought) {
    return { kind: 'choice', options: actions, prefix: '<action>', suffix: '</action>' };
  }
  const action =
    actions === null
      ? `${THOUGHT_CHARACTER}{1,${String(LONGEST_FREE_ACTION)}}`
      : actions.map(gbnfLiteral).join(' | ');
  const longest = actions === null ? LONGEST_FREE_ACTION : Math.max(...actions.map((text) => text.length));
  const tags = '<think></think><action></action>'.length;
  const room = Math.min(LONGEST_THOUGHT, maxTokens - longest - tags);
  const before =
    thought && room > 0 ? `("<think>" ${THOUGHT_CHARACTER}{1,${String(room)}} "</think>")? ` : '';
  return { kind: 'gbnf', source: `root ::= ${before}"<action>" action "</action>"\naction ::= ${action}\n` };
}

function gbnfLiteral(text: string): string {
  const escaped = text.replace(/[\\"]/gu, '\\$&').replace(/\n/gu, '\\n').replace(/\r/gu, '\\r');
  return `"${escaped}"`;
}
