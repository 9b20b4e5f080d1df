/** The Lisp syntax of PDDL: words and lists with their line numbers. Lower case, `;` comments, ASCII only, as the original planner reads. */

export interface Word {
  readonly kind: 'word';
  readonly text: string;
  readonly line: number;
}
export interface List {
  readonly kind: 'list';
  readonly items: readonly Expression[];
  readonly line: number;
}
export type Expression = Word | List;

export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string) {
    super(`line ${String(line)}: ${reason}`);
    this.line = line;
    this.reason = reason;
  }
}

const deepest = 64;
const mostWords = 1_000_000;

export interface Token {
  readonly text: string;
  readonly line: number;
}

/** @throws SyntaxFault for a character outside ASCII (comments may hold any) */
export function* tokens(source: string): Generator<Token> {
  let line = 0;
  for (const raw of source.split('\n')) {
    line += 1;
    const comment = raw.indexOf(';');
    const code = comment === -1 ? raw : raw.slice(0, comment);
    for (const [text] of code.matchAll(/[()]|\?[^\s()?]*|[^\s()?]+/g)) {
      if (/[^\x00-\x7f]/.test(text)) throw new SyntaxFault(line, `"${text.slice(0, 40)}" is not ASCII`);
      yield { text: text.toLowerCase(), line };
    }
  }
}

/** The one expression of a file. @throws SyntaxFault */
export function parseExpression(source: string): Expression {
  const stack: { items: Expression[]; line: number }[] = [];
  let result: Expression | null = null;
  let count = 0;
  for (const { text, line } of tokens(source)) {
    count += 1;
    if (count > mostWords) throw new SyntaxFault(line, `more than ${String(mostWords)} words`);
    if (result !== null)
      throw new SyntaxFault(line, `"${text.slice(0, 40)}" after the end of the expression`);
    if (text === '(') {
      if (stack.length >= deepest)
        throw new SyntaxFault(line, `nested deeper than ${String(deepest)} levels`);
      stack.push({ items: [], line });
      continue;
    }
    const open = stack.at(-1);
    if (open === undefined) throw new SyntaxFault(line, `expected "(" but found "${text.slice(0, 40)}"`);
    if (text !== ')') {
      open.items.push({ kind: 'word', text, line });
      continue;
    }
    stack.pop();
    const closed: List = { kind: 'list', items: open.items, line: open.line };
    const outer = stack.at(-1);
    if (outer === undefined) result = closed;
    else outer.items.push(closed);
  }
  const unclosed = stack.at(-1);
  if (unclosed !== undefined) throw new SyntaxFault(unclosed.line, 'this "(" is never closed');
  if (result === null) throw new SyntaxFault(1, 'the text is empty');
  return result;
}
