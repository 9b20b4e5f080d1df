/** Actions that hold every typed word, in any order; those that start with the text come first. Order is kept otherwise. */
export function filterActions(actions: readonly string[], filter: string): string[] {
  const text = filter.trim().toLowerCase();
  const words = text.split(/\s+/u).filter(Boolean);
  if (words.length === 0) return [...actions];
  const matching = actions.filter((action) => {
    const lower = action.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
  const first = matching.filter((action) => action.toLowerCase().startsWith(text));
  return [...first, ...matching.filter((action) => !first.includes(action))];
}
