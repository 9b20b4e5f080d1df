import { diffWordsWithSpace } from 'diff';

export interface DiffPart {
  readonly text: string;
  readonly changed: boolean;
}

export interface SideBySide {
  readonly left: readonly DiffPart[];
  readonly right: readonly DiffPart[];
  readonly equal: boolean;
  /** Words in common ÷ words of the longer side; 1 for equal texts, two empty texts included. */
  readonly similarity: number;
}

/** Above this a word diff takes longer than a frame; then only the common head and tail are kept. */
const wordDiffLimit = 60_000;

/** Word diff of two texts, split into what each side shows. Joining a side's parts gives that text back. */
export function sideBySide(left: string, right: string): SideBySide {
  if (left === right) {
    const whole = left === '' ? [] : [{ text: left, changed: false }];
    return { left: whole, right: whole, equal: true, similarity: 1 };
  }
  if (left.length + right.length > wordDiffLimit) return headAndTail(left, right);
  const leftParts: DiffPart[] = [];
  const rightParts: DiffPart[] = [];
  let common = 0;
  for (const change of diffWordsWithSpace(left, right)) {
    if (change.removed) leftParts.push({ text: change.value, changed: true });
    else if (change.added) rightParts.push({ text: change.value, changed: true });
    else {
      common += countWords(change.value);
      leftParts.push({ text: change.value, changed: false });
      rightParts.push({ text: change.value, changed: false });
    }
  }
  const longer = Math.max(countWords(left), countWords(right));
  return {
    left: joinRuns(leftParts),
    right: joinRuns(rightParts),
    equal: false,
    similarity: longer === 0 ? 1 : Math.min(1, common / longer),
  };
}

/** White space between two changed words is part of one change; a mark per word would only flicker. */
function joinRuns(parts: readonly DiffPart[]): DiffPart[] {
  const runs: DiffPart[] = [];
  parts.forEach((part, index) => {
    const inside =
      !part.changed && part.text.trim() === '' && parts[index - 1]?.changed && parts[index + 1]?.changed;
    const changed = part.changed || inside === true;
    const last = runs.at(-1);
    if (last !== undefined && last.changed === changed)
      runs[runs.length - 1] = { text: last.text + part.text, changed };
    else runs.push({ text: part.text, changed });
  });
  return runs;
}

function countWords(text: string): number {
  return text.match(/\S+/gu)?.length ?? 0;
}

function headAndTail(left: string, right: string): SideBySide {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail++;
  const cut = (text: string): DiffPart[] =>
    [
      { text: text.slice(0, head), changed: false },
      { text: text.slice(head, text.length - tail), changed: true },
      { text: text.slice(text.length - tail), changed: false },
    ].filter((part) => part.text !== '');
  return {
    left: cut(left),
    right: cut(right),
    equal: false,
    similarity: (head + tail) / Math.max(left.length, right.length),
  };
}
