/** `--set branching.sr.k=4`: edits the YAML text itself, so comments survive and a problem still has its line. */
import { isCollection, parseDocument } from 'yaml';
import { AppError } from '#shared/errors.ts';
import { readDocument } from '#core/runs/yaml.ts';

/**
 * What is no YAML value by itself (an alias, an unclosed bracket), or would be a mapping without braces (a path with a colon and a
 * space), is meant as text.
 */
function valueOf(text: string): unknown {
  const document = parseDocument(text);
  const bare = isCollection(document.contents) && document.contents.flow !== true;
  if (document.errors.length > 0 || bare) return text;
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  } catch {
    return text;
  }
}

function parseAssignment(assignment: string): { path: (string | number)[]; value: unknown } {
  const equals = assignment.indexOf('=');
  const key = assignment.slice(0, Math.max(0, equals)).trim();
  const parts = key.split('.');
  if (equals < 1 || parts.some((part) => part === '')) {
    throw new AppError({
      code: 'INVALID_INPUT',
      message: `--set takes key=value with a dotted key, for example --set branching.sr.k=4, not "${assignment}".`,
    });
  }
  const text = assignment.slice(equals + 1);
  const value = valueOf(text);
  return { path: parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part)), value };
}

/** @throws AppError INVALID_INPUT for an assignment that cannot be read, CONFIG_INVALID for a text that is no YAML */
export function assign(yaml: string, assignments: readonly string[]): string {
  if (assignments.length === 0) return yaml;
  const read = readDocument(yaml);
  if ('problems' in read) {
    const [first] = read.problems;
    const line = first?.line ?? null;
    const place = line === null ? '' : `line ${String(line)}: `;
    throw new AppError({
      code: 'CONFIG_INVALID',
      message: `${place}${first?.message ?? 'The text is no YAML.'}`,
    });
  }
  for (const assignment of assignments) {
    const { path, value } = parseAssignment(assignment);
    // A scalar in the way (`reflection: true`, then reflection.k) is replaced rather than a crash.
    for (let depth = path.length - 1; depth > 0; depth -= 1) {
      const parent = read.document.getIn(path.slice(0, depth), true);
      if (parent !== undefined && !isCollection(parent)) read.document.deleteIn(path.slice(0, depth));
    }
    read.document.setIn(path, value);
  }
  return read.document.toString();
}
