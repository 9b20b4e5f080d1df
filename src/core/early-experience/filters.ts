/**
 * The detectors of the spec's part 3, each a pure function with its evidence. They find wording, not quality: a clean text may
 * still be poor, which is what the review queue is for.
 *
 * None of them is in the paper, whose own printed reflections would fail (spec 1.3); the paper's table of filters is `paperSwitches`.
 */
import type { ReflectionFlag } from '#shared/schema/branch.ts';
import { canonicalAction } from '#core/agents/index.ts';
import { contradiction } from '#core/early-experience/conclusion.ts';
import { asCommand, wordsOf } from '#core/early-experience/mentions.ts';
import type { Detector, Finding, ReflectionSubject } from '#core/early-experience/subject.ts';
import { escaped, excerpt, sentencesOf, speaksOf } from '#core/early-experience/subject.ts';

/** (a) The role of an action in the generator's prompt, named in the text. */
export const labelLeak: Detector = ({ text }) =>
  firstMatch('label-leak', text, [
    /\b(?:expert|candidate|reference|gold(?:en)?|ground[- ]truth|annotated|demonstrated|optimal)(?:['’]s)?\s+(?:action|choice|move|step|decision|answer|plan)s?\b/iu,
    /\bthe\s+expert\b/iu,
    /\b(?:correct|right|given|provided|chosen|selected)\s+action\s+(?:is|was|here|given)\b/iu,
    /\bthe\s+action\s+is\s*:/iu,
  ]);

/**
 * (b) Options called by number or letter, as the prompt listed them. A numbered list of something else — steps of a plan, what the goal
 * needs — is reasoning: a list fires only where its points are the candidate actions.
 */
export const numbering: Detector = (subject) =>
  firstMatch('numbering', subject.text, [
    /\b(?:alternative|option|choice|candidate|action)s?\s*(?:#|no\.?|number)?\s*\(?\d+\)?(?![\d)]|\s+(?:times?|steps?|more)\b)/iu,
    /\b(?:[Aa]lternative|[Oo]ption|[Cc]hoice|[Cc]andidate)\s+\(?[A-E]\b(?!['’])/u,
    /\b(?:(?:the|this|that)\s+(?:first|last)|second|third|fourth|fifth)\s+(?:alternative|option|choice|candidate)\b/iu,
    /\b(?:alternative|option)s?\s+(?:one|two|three|four|five)\b/iu,
  ]) ?? numberedCandidates(subject);

/** `1. …`, `2) …`, `B. …` at the beginning of a line; `(1) …`, `(b) …` anywhere. */
const MARKER = /(?:^[ \t]*(?:\d{1,2}|[A-Ea-e])[.)]|(?<![^\s,;:])\((?:\d{1,2}|[A-Ea-e])\))[*_]*\s+/gmu;
/** What may stand between the marker and the action: quotes, emphasis, “Action:”, “I could”. */
const LEAD = /^(?:["'“‘`*_]+|(?:action|to)\b:?\s*|(?:I|we)\s+(?:could|can|would|might|may|should)\s+)*/iu;

/** A point that begins with an alternative, or two points about two different candidates of which one is an alternative. */
function numberedCandidates({ text, expertAction, alternatives }: ReflectionSubject): Finding | null {
  const expert = canonicalAction(expertAction);
  const others = [...new Set(alternatives.map(canonicalAction))].filter((action) => action !== expert);
  const points = [...text.matchAll(MARKER)].map(({ index, 0: marker }, at, all) => {
    const from = index + marker.length;
    const [line = ''] = text.slice(from, all[at + 1]?.index).split('\n');
    return { marker, line };
  });
  const about = new Map<string, string>();
  for (const { marker, line } of points) {
    const evidence = excerpt(`${marker}${line}`);
    const begins = canonicalAction(line.replace(LEAD, ''));
    if (others.some((action) => startsWithAction(begins, action))) return { flag: 'numbering', evidence };
    const [named] = [...others, expert].filter((action) => mentions(line, action));
    if (named !== undefined && !about.has(named)) about.set(named, evidence);
  }
  const [evidence] = others.flatMap((action) => about.get(action) ?? []);
  return evidence !== undefined && about.size > 1 ? { flag: 'numbering', evidence } : null;
}

function startsWithAction(text: string, action: string): boolean {
  return action !== '' && text.startsWith(action) && !/^[\p{L}\p{N}]/u.test(text.slice(action.length));
}

/** (d) The generator's prompt cited: its lists, slots, rules. */
export const scaffold: Detector = ({ text, known, outcomes }) =>
  echo(text, [known, ...outcomes]) ??
  firstMatch('scaffold', text, [
    /\b(?:alternative|other|possible|available|given|listed)\s+(?:actions?|options?|choices?)\s+(?:are\s+|were\s+)?(?:listed|provided|given|presented|mentioned|above|below)\b/iu,
    /\b(?:expected|given|stated)\s+outcomes?\b/iu,
    /\bresulting\s+states?\b/iu,
    /\b(?:situation|task)\s+description\b/iu,
    /\b(?:as\s+)?(?:instructed|per the (?:rules|guidelines|instructions))\b/iu,
    /\b(?:the|these|those|my)\s+(?:guidelines|instructions|annotation|prompt|monologue)\b/iu,
    /\bbased\s+on\s+the\s+(?:given|provided)\s+information\b/iu,
    /\bimportant\s*:\s*\S/iu,
    /\b(?:inner|internal)\s+monologue\b/iu,
    /\bas\s+an?\s+(?:AI|language\s+model|assistant)\b/iu,
    /^\W*(?:task|situation|what you know|what (?:it|else) (?:would|could) \w+|what you are about to do|actions at hand|available tools|admissible actions|alternative actions|expert action|would lead to|rules|guidelines)\b[^\n:]*:/imu,
  ]);

/** A weak generator copies its prompt: most of the text stands word for word in what it was shown. */
function echo(text: string, shown: readonly string[]): Finding | null {
  const source = ` ${shown.map(normalised).join(' ')} `;
  let copied = 0;
  let evidence = '';
  for (const sentence of sentencesOf(text)) {
    const key = normalised(sentence);
    if (key.split(' ').length < 6 || !source.includes(` ${key} `)) continue;
    copied += key.length;
    evidence ||= excerpt(sentence);
  }
  return copied >= 0.3 * normalised(text).length && copied > 0 ? { flag: 'scaffold', evidence } : null;
}

/** What an anticipating voice sounds like; such a clause tells no outcome. */
const ANTICIPATION =
  /\b(?:would|will|should|could|might|may|can|likely|probably|expect|if|unless|won['’]t|cannot|can['’]t)\b/iu;
/** “I have seen …” alone is mostly the agent's own past, which it may speak of: with “now” or “just” it is not. */
const TOLD = [
  /\bhas\s+(?:just\s+)?(?:produced|resulted|led|returned|revealed|shown|confirmed|succeeded|failed|worked|completed)\b/iu,
  /\b(?:this|that|it|which|action|doing so)\s+(?:resulted|led|caused|produced|revealed|returned|confirmed|showed|succeeded|failed|worked)\b/iu,
  /\b(?:other|alternative)\s+(?:actions?|options?|attempts?)\s+(?:all\s+)?(?:fail(?:ed|s)?|led|result(?:ed|s)?|produced?|did)\b/iu,
  /\bwins?\s*(?:[.!,;]|$|because\b|over\b)/iu,
  /\b(?:I|we)\s+(?:now\s+see|saw\s+that|found\s+that|have\s+(?:now|just)\s+(?:arrived|reached|found|seen|opened|picked|completed))\b/iu,
  /\bnothing\s+happen(?:s|ed)\b/iu,
  /\bas\s+(?:the\s+)?(?:outcome|result)s?\s+(?:shows?|showed|confirms?|confirmed|indicates?)\b/iu,
  /\b(?:after|upon|by)\s+(?:doing|executing|performing|taking)\s+(?:this|it|so|that)\s*,?\s+(?:I|we)\s+(?:see|saw|find|found|am|are|get|got)\b/iu,
];

/** (c) An outcome told as already seen: by its wording, or by naming a thing that only the outcomes show. */
export const outcomeNarration: Detector = (subject) => {
  for (const sentence of sentencesOf(subject.text)) {
    if (ANTICIPATION.test(sentence)) continue;
    const told = firstMatch('outcome-narration', sentence, TOLD);
    if (told !== null) return told;
  }
  const known = new Set(entitiesOf(subject.known));
  const revealed = new Set(subject.outcomes.flatMap(entitiesOf).filter((entity) => !known.has(entity)));
  const leaked = entitiesOf(subject.text).find((entity) => revealed.has(entity));
  return leaked === undefined
    ? null
    : { flag: 'outcome-narration', evidence: `names “${leaked}”, which only an outcome shows` };
};

/** (e) The whole text twice, or most of it in repeated sentences. */
export const doubled: Detector = ({ text }) => {
  const plain = normalised(text);
  const half = Math.floor(plain.length / 2);
  if (plain.length > 20 && plain.slice(0, half).trim() === plain.slice(half).trim()) {
    return { flag: 'doubled', evidence: excerpt(text) };
  }
  const seen = new Set<string>();
  let repeated = 0;
  let evidence = '';
  for (const sentence of sentencesOf(text)) {
    const key = normalised(sentence);
    if (key.split(' ').length < 4) continue;
    if (seen.has(key)) {
      repeated += key.length;
      evidence ||= excerpt(sentence);
    }
    seen.add(key);
  }
  return plain.length > 0 && repeated / plain.length >= 0.25 ? { flag: 'doubled', evidence } : null;
};

/** It names nothing that the expert's action names: whatever it says, it is no reason for that action. */
export const unrelated: Detector = (subject) => {
  const { things } = wordsOf(asCommand(subject.expertAction));
  if (things.length === 0 || speaksOf(asCommand(subject.text), things)) return null;
  return {
    flag: 'unrelated',
    evidence: `names neither ${things.map((thing) => `“${thing}”`).join(' nor ')}`,
  };
};

export const tooShort: Detector = ({ text, minWords }) => {
  const words = countWords(text);
  return words === 0 || words >= minWords ? null : { flag: 'too-short', evidence: `${String(words)} words` };
};

export const tooLong: Detector = ({ text, maxWords, cutOff }) => {
  const words = countWords(text);
  if (cutOff) return { flag: 'too-long', evidence: 'cut off at reflection.maxTokens' };
  return words <= maxWords ? null : { flag: 'too-long', evidence: `${String(words)} words` };
};

/** Without these hardly a sentence of English can be made; a model with broken weights makes none. */
const FUNCTION_WORDS =
  /^(?:the|a|an|to|of|in|on|at|is|are|be|it|its|i|my|me|and|or|but|not|no|so|that|this|there|for|from|with|as|by|if|then|would|will|should|can|could|may|have|has|need|first|before|because|since|which|what|where|more|than|into|do|does)$/u;

/** “to to”, “the the”: no hand writes it, a model that has lost the thread does. */
const STUTTER = /(?<![\p{L}’'])(the|an?|to|of|and|for|with|from)\s+\1(?![\p{L}’'])/iu;

/** Control or replacement characters, a doubled article, or words that make no sentence. Text that is not mostly Latin is only checked for the former. */
export const garbled: Detector = ({ text }) => {
  const broken = /[^\P{Cc}\n\t\r]|\u{fffd}/u.exec(text);
  if (broken !== null) {
    return {
      flag: 'garbled',
      evidence: `a broken character after “${excerpt(text.slice(0, broken.index).slice(-40))}”`,
    };
  }
  const stutter = STUTTER.exec(text);
  if (stutter !== null)
    return { flag: 'garbled', evidence: excerpt(text.slice(Math.max(0, stutter.index - 20))) };
  const words = text.toLowerCase().match(/[\p{L}’']+/gu) ?? [];
  const latin = words.filter((word) => /^[\p{Script=Latin}’']+$/u.test(word));
  if (words.length < 8 || latin.length < words.length / 2) return null;
  const common = latin.filter((word) => FUNCTION_WORDS.test(word)).length;
  return common / latin.length >= 0.12 ? null : { flag: 'garbled', evidence: excerpt(text) };
};

export const empty: Detector = ({ text }) =>
  /[\p{L}\p{N}]/u.test(text) ? null : { flag: 'empty', evidence: excerpt(text) };

const DETECTORS = [
  empty,
  garbled,
  labelLeak,
  numbering,
  outcomeNarration,
  scaffold,
  doubled,
  contradiction,
  unrelated,
  tooShort,
  tooLong,
];

/** All that is found, whatever the filters of the run do about it. */
export function detect(subject: ReflectionSubject): Finding[] {
  return DETECTORS.flatMap((detector) => detector(subject) ?? []);
}

function firstMatch(flag: ReflectionFlag, text: string, patterns: readonly RegExp[]): Finding | null {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return { flag, evidence: excerpt(match[0]) };
  }
  return null;
}

function mentions(sentence: string, action: string): boolean {
  if (action === '') return false;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(action)}(?![\\p{L}\\p{N}])`, 'u');
  return pattern.test(canonicalAction(sentence));
}

/** `apple 2`, `W1234`: names of single things. A bare small number is none. */
function entitiesOf(text: string): string[] {
  const named = text.toLowerCase().matchAll(/\b[a-z]{3,}\s\d+\b|#?\b[a-z]*\d{4,}\b/gu);
  return [...named].map(([entity]) => entity);
}

function countWords(text: string): number {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function normalised(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
