/**
 * Where a sentence names an action: in the environment's words, with or without articles and the number of a thing, as a gerund, or
 * cut before its preposition (“taking the apple” for `take apple 1 from fridge 1`). A sentence may also name an action that nobody
 * offered, in the shape of those that exist (`go to shelf 9`): whatever it is, it is not the expert's.
 */
import { canonicalAction } from '#core/agents/index.ts';
import type { ReflectionSubject } from '#core/early-experience/subject.ts';
import { escaped } from '#core/early-experience/subject.ts';

export interface Mention {
  expert: boolean;
  start: number;
  end: number;
}

export interface ActionNames {
  expert: RegExp;
  others: RegExp[];
  /** What the expert's action is: `open`. */
  verb: string;
  /** What it acts on: `fridge`; empty for `look`. */
  things: string[];
}

type Actions = Pick<ReflectionSubject, 'expertAction' | 'alternatives' | 'admissible'>;

const THING = '[\\p{L}\\p{N}-]+\\s\\d+';
const PREPOSITION = /\s(?:from|to|with|in|on|into|onto)\s/u;

/** One spelling for actions and texts: lower case, no articles, one verb for walking. */
export function asCommand(text: string): string {
  return canonicalAction(text)
    .replace(/(?<![\p{L}\p{N}])(?:the|an?|this)\s+(?=\p{L})/gu, '')
    .replace(
      /\b(?:step|stepping|walk|walking|head|heading|move|moving|proceed|proceeding|travel|travell?ing|return|returning)s?\s+(?:over\s+|back\s+)?to\b/gu,
      'go to',
    );
}

export function namesOf({ expertAction, alternatives, admissible }: Actions): ActionNames {
  const expert = asCommand(expertAction);
  const others = [...new Set([...alternatives, ...admissible].map(asCommand))].filter(
    (action) => action !== expert && action !== '',
  );
  const shapes = [expert, ...others].filter((action) => /\s\d/u.test(action)).map(shapeOf);
  return {
    expert: anywhere(calleeOf(expert) ?? loosely(expert)),
    others: [
      ...others.map((action) => {
        if (/^\p{L}+$/u.test(action)) return asAnswer(action);
        const callee = calleeOf(action);
        return anywhere(callee === null || callee === calleeOf(expert) ? unlike(expert, action) : callee);
      }),
      ...[...new Set(shapes)].map(anywhere),
    ],
    ...wordsOf(expert),
  };
}

/** @param expert in the spelling of `asCommand` */
export function wordsOf(expert: string): Pick<ActionNames, 'verb' | 'things'> {
  const [verb = '', ...rest] = expert.match(/\p{L}+/gu) ?? [];
  const things = [...new Set(rest)].filter(
    (word) => word.length > 2 && !/^(?:from|with|into|onto)$/u.test(word),
  );
  return { verb, things };
}

/** In the order of the text; of two that overlap the longer, of two equal ones the expert's. */
export function mentionsIn(sentence: string, { expert, others }: ActionNames): Mention[] {
  const found = [expert, ...others].flatMap((pattern, index) =>
    [...sentence.matchAll(pattern)].map(({ 0: text, index: start }): Mention => ({
      expert: index === 0,
      start,
      end: start + text.length,
    })),
  );
  const kept: Mention[] = [];
  const byLength = found.toSorted(
    (a, b) => b.end - b.start - (a.end - a.start) || Number(b.expert) - Number(a.expert),
  );
  for (const one of byLength) {
    if (kept.every(({ start, end }) => one.end <= start || one.start >= end)) kept.push(one);
  }
  return kept.toSorted((a, b) => a.start - b.start);
}

function anywhere(pattern: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, 'gu');
}

/** `look`, `help`: words of every text, so only where somebody says that he does it. */
function asAnswer(word: string): RegExp {
  const said =
    '\\b(?:i|we|let me)\\s(?:(?:(?:try|want|need|have|decide) to|will|should|must|could|can|may|might|just|now|simply)\\s)*';
  const done =
    '\\s*(?:around|again|first|now|next|instead|alone)?\\s*(?:$|[.,;:!?"\'”’]|\\b(?:and|but|or|because|since|so)\\b)';
  return new RegExp(`(?:(?<=${said})|(?<=["'“‘\`]))${escaped(word)}(?=${done})`, 'gu');
}

/** Of a call, `cancel_order(…)`, its name tells it. */
function calleeOf(action: string): string | null {
  const name = /^([\p{L}\p{N}_.]+)\(/u.exec(action)?.[1];
  return name === undefined ? null : escaped(name);
}

/** Numbers may be left out, and what follows a preposition. */
function loosely(action: string): string {
  return written(cut(action) ?? action, true) + tail(action);
}

/** As loosely as it cannot be taken for the expert's action. */
function unlike(expert: string, action: string): string {
  const head = cut(action);
  const headTells = head !== null && numberless(head) !== numberless(cut(expert) ?? expert);
  if (headTells) return written(head, true) + tail(action);
  return written(action, numberless(action) !== numberless(expert));
}

/** `take apple 1` of `take apple 1 from fridge 1`; null where nothing but a verb would be left. */
function cut(action: string): string | null {
  const [head = ''] = action.split(PREPOSITION);
  return head !== action && head.includes(' ') ? head : null;
}

function tail(action: string): string {
  const head = cut(action);
  return head === null ? '' : `(?:${written(action.slice(head.length), true)})?`;
}

function written(action: string, loose: boolean): string {
  const [verb = '', ...rest] = action.split(' ');
  const parts = rest.map((word) =>
    loose && /^\d+$/u.test(word) ? `(?:\\s${word})?` : `\\s${escaped(word)}`,
  );
  return `${formsOf(verb)}${parts.join('')}${/\d$/u.test(action) ? '(?!\\s?\\d)' : ''}`;
}

function formsOf(verb: string): string {
  if (!/^\p{L}+$/u.test(verb)) return escaped(verb);
  const stem = verb.replace(/(?<=[^e])e$/u, '');
  return `(?:${verb}(?:e?s)?|${stem}${verb.at(-1) ?? ''}?ing)`;
}

function shapeOf(action: string): string {
  return escaped(action).replace(/[\p{L}\p{N}-]+\s\d+/gu, THING);
}

function numberless(action: string): string {
  return action.replace(/\s\d+/gu, '');
}
