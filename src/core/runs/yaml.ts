/**
 * YAML text → run, or problems with path and line. The schema is the only description of a run; here it is only located in the
 * text. Hostile text (alias bombs, deep nesting, huge files, prototype keys) ends in a problem, never in a crash.
 */
import { isCollection, isMap, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { issueWords, showPath, valueAt } from '#shared/issue-words.ts';
import { runSchema } from '#shared/schema/run.ts';
import type { Run, RunProblem } from '#shared/schema/run.ts';
import type { FamilyOf } from '#core/early-experience/index.ts';
import { withProfile } from '#core/early-experience/index.ts';
import { unknownKeys } from '#core/runs/unknown-keys.ts';

/** Characters; a real run file has about 2,000. */
export const longestRunText = 200_000;
/** A run nests five deep. */
const deepestNesting = 30;

export interface ParsedRun {
  run: Run | null;
  problems: RunProblem[];
  /** Where in the text a field stands, or its nearest parent that is written. */
  line(path: KeyPath): number | null;
}

export type KeyPath = readonly (string | number)[];

function problem(path: string, message: string, line: number | null): RunProblem {
  return { path, message, severity: 'error', line };
}

/** Cheap look at the text before the recursive parser: flow brackets and indentation bound its depth. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
    if (depth > deepestNesting) return true;
  }
  // Block nesting adds at least one column a level; `- - - -` nests on one line.
  return /^ {60}/m.test(text) || /(?:[-?:] +){30}/.test(text);
}

/** The line of the deepest node of `path` that is in the text: a missing field is reported at its parent. */
export function lineOf(document: Document, counter: LineCounter, path: KeyPath): number | null {
  let node: Node | null | undefined = document.contents as Node | null;
  let offset = node?.range?.[0];
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part);
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value as Node | null;
    } else if (isCollection(node)) {
      node = node.get(part, true) as Node | undefined;
      offset = node?.range?.[0] ?? offset;
    } else break;
  }
  return offset === undefined ? null : counter.linePos(offset).line;
}

export interface RunDocument {
  document: Document;
  counter: LineCounter;
}

/** @returns problems instead of a document when the text is no YAML at all */
export function readDocument(text: string): RunDocument | { problems: RunProblem[] } {
  if (text.length > longestRunText) {
    const size = `${String(text.length)} characters; a run file has at most ${String(longestRunText)}`;
    return { problems: [problem('', `The text is too long: ${size}.`, null)] };
  }
  if (nestsTooDeep(text)) {
    return { problems: [problem('', `The text nests deeper than ${String(deepestNesting)} levels.`, null)] };
  }
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: true, uniqueKeys: true });
  const problems = document.errors.map((error) => {
    const [first] = error.linePos ?? [];
    const column = first === undefined ? '' : ` (column ${String(first.col)})`;
    const [sentence = error.message] = error.message.split(' at line ');
    return problem('', `${sentence}${column}`, first?.line ?? null);
  });
  return problems.length > 0 ? { problems } : { document, counter };
}

function plainValue({ document }: RunDocument): { value: unknown } | { problems: RunProblem[] } {
  try {
    return { value: document.toJS({ maxAliasCount: 50 }) as unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problems: [problem('', `The text cannot be read as values: ${reason}.`, null)] };
  }
}

export function parseRun(text: string, familyOf: FamilyOf): ParsedRun {
  const read = readDocument(text);
  if ('problems' in read) return { run: null, problems: read.problems, line: () => null };
  const line = (path: KeyPath) => lineOf(read.document, read.counter, path);
  const plain = plainValue(read);
  if ('problems' in plain) return { run: null, problems: plain.problems, line };
  const { value } = plain;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const hint = 'A run is a mapping that starts with `kind: rollout` or `kind: early-experience`.';
    return { run: null, problems: [problem('', hint, 1)], line };
  }
  const problems = unknownKeys(runSchema, value).map(({ path, message }) =>
    problem(showPath(path), message, line(path)),
  );
  // `profile: paper` decides what an unwritten switch means, so it comes before the schema's defaults.
  const parsed = runSchema.safeParse(withProfile(value, familyOf));
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.filter((part) => typeof part !== 'symbol');
    problems.push(problem(showPath(path), issueWords(issue, valueAt(value, path)), line(path)));
  }
  return { run: problems.length === 0 ? (parsed.data ?? null) : null, problems, line };
}
