/** What zod found wrong, in our words: what is there, and what may be there instead. */
import type { $ZodIssue } from 'zod/v4/core';

const longestShown = 60;

/** Zod's own messages begin like this; any other text was written in the schema for people. */
const zodWords = /^(Invalid|Too (big|small)|Unrecognized)/;

const kindWords: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
};

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return `\`${text.length > longestShown ? `${text.slice(0, longestShown)}…` : text}\``;
}

function choices(values: readonly unknown[]): string {
  return values.map((value) => `\`${String(value)}\``).join(', ');
}

/** `value` is what stands at the path of the issue; undefined where nothing does. */
function expected(value: unknown, what: string): string {
  return value === undefined
    ? `Nothing is given here; it takes ${what}.`
    : `${shown(value)} is not permitted here; it takes ${what}.`;
}

const unitWords: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

/** Of a union without a discriminator: its plain values by name, everything else by its kind. */
function unionWords(errors: readonly (readonly $ZodIssue[])[]): string {
  const parts = errors.flatMap((option) => {
    const [first] = option;
    if (first === undefined) return [];
    // The option has this shape but is wrong inside.
    if (first.path.length > 0)
      return [`a mapping with a right ${option.map(({ path }) => path.join('.')).join(' and ')}`];
    if (first.code === 'invalid_value') return [choices(first.values)];
    if (first.code === 'invalid_type') return [kindWords[first.expected] ?? first.expected];
    return [];
  });
  return parts.join(', or ');
}

/** @returns a sentence for the run file's author; the path is told beside it */
export function issueWords(issue: $ZodIssue, value: unknown): string {
  if (!zodWords.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_value':
      return expected(value, `one of ${choices(issue.values)}`);
    case 'invalid_union':
      if ('options' in issue && Array.isArray(issue.options))
        return expected(value, `one of ${choices(issue.options)}`);
      return expected(value, unionWords(issue.errors));
    case 'invalid_type':
      return expected(value, kindWords[issue.expected] ?? issue.expected);
    case 'too_small':
      return expected(value, `at least ${String(issue.minimum)}${unitWords[issue.origin] ?? ''}`);
    case 'too_big':
      return expected(value, `at most ${String(issue.maximum)}${unitWords[issue.origin] ?? ''}`);
    case 'invalid_format':
      return issue.pattern === undefined
        ? issue.message
        : expected(value, `text of the form ${issue.pattern}`);
    default:
      return issue.message;
  }
}

export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}
