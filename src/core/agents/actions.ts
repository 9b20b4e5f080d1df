/** When two action texts mean the same action: after trimming, lower-casing and collapsing white space. */

export function canonicalAction(action: string): string {
  return action.trim().replace(/\s+/gu, ' ').toLowerCase();
}

/** The admissible action that this text means, in the environment's own spelling; else null. */
export function matchAdmissible(action: string, admissible: readonly string[] | null): string | null {
  if (admissible === null) return null;
  if (admissible.includes(action)) return action;
  const wanted = canonicalAction(action);
  return admissible.find((candidate) => canonicalAction(candidate) === wanted) ?? null;
}

/** Each action once, the first spelling kept, without those in `except`. */
export function distinctActions(actions: readonly string[], except: readonly string[] = []): string[] {
  const seen = new Set(except.map(canonicalAction));
  const distinct: string[] = [];
  for (const action of actions) {
    const canonical = canonicalAction(action);
    if (seen.has(canonical)) continue;
    seen.add(canonical);
    distinct.push(action);
  }
  return distinct;
}
