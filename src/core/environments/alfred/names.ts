/**
 * How the original shows its mangled ids (`cabinet_bar__plus_00_dot_65…`) as `cabinet 4`. Ids are sorted and numbers are handed
 * out counting down, so the first id of a class has the highest number. An id that contains `basin` gets `basin` appended to its
 * class (`sink_bar_…_bar_sinkbasin` is `sinkbasin 1`), even where the class already ends with it.
 */
const separator = '_bar_';

/** Display name of every id. An id without a separator is shown with a trailing space, as the original does. */
export function displayNames(ids: Iterable<string>): Map<string, string> {
  const sorted = [...new Set(ids)].toSorted(byCodeUnit);
  const left = new Map<string, number>();
  for (const id of sorted) {
    const name = className(id);
    if (name !== null) left.set(name, (left.get(name) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  for (const id of sorted) {
    const name = className(id);
    if (name === null) {
      names.set(id, `${unmangled(id)} `);
      continue;
    }
    const number = left.get(name) ?? 0;
    left.set(name, number - 1);
    names.set(id, `${name} ${String(number)}`);
  }
  return names;
}

/** Python's string order for the ASCII names that PDDL allows. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function className(id: string): string | null {
  const at = id.indexOf(separator);
  if (at === -1) return null;
  return id.slice(0, at) + (id.includes('basin') ? 'basin' : '');
}

function unmangled(id: string): string {
  return id
    .replaceAll('_minus_', '-')
    .replaceAll('_plus_', '+')
    .replaceAll('_dot_', '.')
    .replaceAll('_comma_', ',');
}
