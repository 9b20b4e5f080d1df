/** `--set key=value` on a run that is an object already, in the words of a run file's problems. */
import { parse, stringify } from 'yaml';
import type { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { issueWords, showPath, valueAt } from '#shared/issue-words.ts';
import { assign } from '#core/runs/assign.ts';
import { unknownKeys } from '#core/runs/unknown-keys.ts';

/**
 * @param run as the options of a command have it, not checked yet
 * @param schema strict, so that a wrong key is an error
 * @throws AppError CONFIG_INVALID with every field that is wrong, INVALID_INPUT for an assignment that cannot be read
 */
export function changed<Schema extends z.ZodType>(
  schema: Schema,
  run: z.input<Schema>,
  sets: readonly string[],
): z.infer<Schema> {
  const value: unknown = sets.length === 0 ? run : parse(assign(stringify(run), sets));
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const unknown = unknownKeys(schema, value);
  const wrong = checked.error.issues.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol');
    if (issue.code !== 'unrecognized_keys')
      return [`${showPath(path)}: ${issueWords(issue, valueAt(value, path))}`];
    return issue.keys.flatMap((key) => {
      const place = showPath([...path, key]);
      return unknown.find((found) => showPath(found.path) === place)?.message ?? `Unknown key \`${place}\`.`;
    });
  });
  throw new AppError({ code: 'CONFIG_INVALID', message: `Nothing was started. ${wrong.join(' ')}` });
}
