export interface TextSpan {
  readonly text: string;
  /** Which needle it matched; null between matches. */
  readonly match: number | null;
}

/**
 * Cuts a text where any of the needles occurs (case-insensitive, white space of any length alike), first occurrence first,
 * overlaps left to the earlier match. Joining the spans gives the text back.
 */
export function findText(text: string, needles: readonly string[]): TextSpan[] {
  const hits: { start: number; end: number; match: number }[] = [];
  needles.forEach((needle, match) => {
    const words = needle.trim().split(/\s+/u).filter(Boolean);
    if (words.length === 0) return;
    const pattern = new RegExp(words.map(escapePattern).join('\\s+'), 'giu');
    for (const found of text.matchAll(pattern))
      hits.push({ start: found.index, end: found.index + found[0].length, match });
  });
  hits.sort((a, b) => a.start - b.start || b.end - a.end);
  const spans: TextSpan[] = [];
  let at = 0;
  for (const hit of hits) {
    if (hit.start < at) continue;
    if (hit.start > at) spans.push({ text: text.slice(at, hit.start), match: null });
    spans.push({ text: text.slice(hit.start, hit.end), match: hit.match });
    at = hit.end;
  }
  if (at < text.length) spans.push({ text: text.slice(at), match: null });
  return spans;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/gu, '\\$&');
}
