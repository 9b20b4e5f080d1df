/** What the detectors of reflections look at and give back, and how they cut a text. */
import type { ReflectionFlag } from '#shared/schema/branch.ts';

export interface ReflectionSubject {
  text: string;
  /** The raw answer: an `<action>` in it is the concluded action. */
  raw: string;
  expertAction: string;
  alternatives: readonly string[];
  /** Of s_i; empty where the environment lists none. */
  admissible: readonly string[];
  /** All that the policy knows in s_i: task, history, observation, admissible actions. */
  known: string;
  /** s_{i+1} and every s_i^j. */
  outcomes: readonly string[];
  minWords: number;
  maxWords: number;
  /** The generator stopped at its token limit, in the middle of the text. */
  cutOff: boolean;
}

export interface Finding {
  flag: ReflectionFlag;
  /** The words that gave it away. */
  evidence: string;
}

export type Detector = (subject: ReflectionSubject) => Finding | null;

export function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/u).filter((sentence) => sentence.trim() !== '');
}

/** Whether a text speaks of one of the words: as it is, inflected, or as a part of it (“table” for `sidetable`). */
export function speaksOf(text: string, words: readonly string[]): boolean {
  const spoken = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return words.some((word) => {
    const stem = word.replace(/e$/u, '');
    return spoken.some(
      (one) =>
        one === word ||
        (stem.length >= 3 && one.startsWith(stem) && one.length <= word.length + 4) ||
        (one.length >= 4 && word.includes(one)),
    );
  });
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}

export function excerpt(text: string): string {
  const line = text.trim().replace(/\s+/gu, ' ');
  return line.length <= 120 ? line : `${line.slice(0, 117)}…`;
}
