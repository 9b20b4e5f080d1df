/** What zod found wrong, in our words: what is there, and what may be there instead. */
import { z } from 'zod';
import { sentence } from './sentence.ts';

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
function unionWords(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
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

/** @returns a sentence for whoever wrote the value; the path is told beside it */
export function issueWords(issue: z.core.$ZodIssue, value: unknown): string {
  if (!zodWords.test(issue.message)) return sentence(issue.message);
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
        ? sentence(issue.message)
        : expected(value, `text of the form ${issue.pattern}`);
    default:
      return sentence(issue.message);
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

/** `policy.adapters[0].path` */
export function showPath(path: readonly (string | number)[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${String(part)}]` : index === 0 ? part : `.${part}`))
    .join('');
}

const mostIssues = 8;

/** All that is wrong with a value, field by field; the list of a huge value is cut. */
export function issueSentences(issues: readonly z.core.$ZodIssue[], value: unknown): string {
  const told = issues.slice(0, mostIssues).map((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol');
    const place = path.length === 0 ? '' : `${showPath(path)}: `;
    return `${place}${issueWords(issue, valueAt(value, path))}`;
  });
  const more = issues.length > told.length ? ` And ${String(issues.length - told.length)} more.` : '';
  return `${told.join(' ')}${more}`;
}

/** `A whole number from 1 to 4096.` */
export function rangeWords(schema: z.ZodType): string {
  const json = z.toJSONSchema(schema, { io: 'output' });
  const [{ type, minimum, exclusiveMinimum, maximum = Infinity }] = (json.anyOf ?? [json]) as [
    z.core.JSONSchema.BaseSchema,
  ];
  const kind = type === 'integer' ? 'A whole number' : 'A number';
  const open = maximum >= Number.MAX_SAFE_INTEGER;
  if (exclusiveMinimum === undefined)
    return `${kind} from ${String(minimum)} ${open ? 'up' : `to ${String(maximum)}`}.`;
  return `${kind} above ${String(exclusiveMinimum)}${open ? '' : `, at most ${String(maximum)}`}.`;
}
