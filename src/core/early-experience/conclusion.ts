/**
 * What a text says should be done, as far as its wording shows. The paper drops a reflection that concludes (BFCL) or supports
 * (WebArena) another action than the expert's, and does not say how that is found. Here by rules, from the last clause to the first:
 *
 * 1. an action in the answer itself: `<action>…</action>`, or half of it;
 * 2. the last clause that resolves on an action: for another, or against the expert's;
 * 3. a text that names another action, says nothing against it, and neither names the expert's nor speaks of what it acts on.
 *
 * Alternatives may be discussed: what is weighed, turned down or kept for later is no conclusion. Irony, pronouns (“the former”)
 * and actions in words that are not the environment's are beyond rules; reflection-quality.test.ts measures how far they go.
 */
import { canonicalAction } from '#core/agents/index.ts';
import type { ActionNames, Mention } from '#core/early-experience/mentions.ts';
import { asCommand, mentionsIn, namesOf } from '#core/early-experience/mentions.ts';
import type { Detector, Finding, ReflectionSubject } from '#core/early-experience/subject.ts';
import { excerpt, sentencesOf, speaksOf } from '#core/early-experience/subject.ts';

const RESOLVE =
  /\b(?:(?:I|we)\s+(?:\w+\s+)?(?:will|shall|should|must|choose|decide|pick|prefer)|(?:I|we)['’]ll|let\s+me|let['’]s|therefore|thus|hence|best|better|going\s+to|need\s+to|makes?\s+(?:the\s+most\s+)?sense|wisest|most\s+sensible|(?:right|next)\s+(?:step|move|thing)|(?:my|the)\s+(?:\w+\s+)?(?:choice|action|decision|answer|plan)\s+(?:is|will\s+be)|opt\s+for|settle\s+(?:on|for)|go\s+with|want\s+to|(?:['’]d|would)\s+rather)\b/iu;
/** “I go to …”, “so I try to go to …”: the verb follows at once. */
const ACTS =
  /\b(?:I|we)(?:['’](?:m|re))?\s+(?:(?:am|are|would|now|then|just|simply|first|try\s+to|start\s+by|begin\s+by)\s+)*$/iu;
const PRAISED =
  /^\s+(?:is|seems|looks|makes|should\s+be|would\s+be|should\s+come)\s+(?:\w+\s+)?(?:best|better|right|wise\w*|sensible|logical|natural|optimal|obvious|preferable|first|next|sense)\b/iu;
const REFUSED =
  /(?:\b(?:rather\s+than|instead\s+of|not|never|avoid|over|than|before|unlike|skip|neither|nor|without|while|whereas|but\s+to)|n['’]t)\s+(?:\w+\s+){0,3}$/iu;
/** Weighing, a condition, a reason: no decision, whatever words of one are near. */
const WEIGHED =
  /\b(?:if|unless|when|once|until|whether|were\s+to|consider\w*|because|since|so\s+that|in\s+order\s+to|where|which|as\s+(?:I|we|it|there)|would\s+need\s+to|could\s+(?:also\s+)?(?:try|decide|choose)|(?:might|may|could|would)\s+(?:look|seem|appear|sound))\b/iu;
const ON_CONDITION = /^\s+(?:only\s+)?(?:if|unless|when|once)\b/iu;
const AGAINST =
  /\b(?:but|although|though|however|yet|not|no|never|nothing|less|wast\w+|useless|pointless|unnecessary|needless\w*|instead|rather|early|cost\w*|only|merely|without|fail\w*|wrong|distract\w*|delay\w*|already|irrelevant|tempting|cannot)\b|n['’]t\b/iu;
const LATER =
  /\b(?:in\s+the\s+end|then|after(?:wards)?|later|finally|eventually|(?:other|another|next)\s+time)\b/iu;
const TURNS = /\b(?:but|however|instead|rather|actually|though|yet)\b/iu;

interface Sentence {
  text: string;
  plain: string;
  mentions: Mention[];
}

export const contradiction: Detector = (subject) => {
  const acted = actionInAnswer(subject);
  if (acted !== null) return { flag: 'contradiction', evidence: `concludes “${acted}”` };
  const names = namesOf(subject);
  const sentences = sentencesOf(subject.text).map((text): Sentence => {
    const plain = asCommand(text);
    return { text, plain, mentions: mentionsIn(plain, names) };
  });
  for (const [index, { text, plain, mentions }] of [...sentences.entries()].toReversed()) {
    for (const mention of mentions.toReversed()) {
      const clause = clauseOf(plain, mention);
      const refused = REFUSED.test(clause.before);
      if (mention.expert && !refused) return null;
      if (mention.expert !== refused || !resolves(clause)) continue;
      if (!mention.expert && isPlan(sentences, index, mention, clause, names)) continue;
      if (sentences.slice(index + 1).some((later) => TURNS.test(later.plain) && alludes([later], names)))
        return null;
      return { flag: 'contradiction', evidence: excerpt(text) };
    }
  }
  return namesOnlyAnother(sentences, names);
};

/** The answer acts: with a tag, or with the end of one after words that do not end in the expert's action. */
function actionInAnswer({ raw, expertAction }: ReflectionSubject): string | null {
  const expert = canonicalAction(expertAction);
  const opened = /<action>([^<\n]*)/iu.exec(raw)?.[1];
  if (opened !== undefined) return canonicalAction(opened) === expert ? null : opened.trim();
  const closed = /([^<>\n]*)<\/action>/iu.exec(raw)?.[1];
  if (
    closed === undefined ||
    asCommand(closed)
      .replace(/[^\p{L}\p{N})\]]+$/u, '')
      .endsWith(asCommand(expertAction))
  ) {
    return null;
  }
  return excerpt(closed);
}

interface Clause {
  before: string;
  after: string;
}

function clauseOf(sentence: string, { start, end }: Mention): Clause {
  const separator = /[,;:]\s|\s(?=(?:but|so\s+(?:i|we)|and\s+(?:i|we|so|then)|while|whereas)\s)/gu;
  const head = sentence.slice(0, start);
  const from = [...head.matchAll(separator)].at(-1);
  const rest = sentence.slice(end);
  const to = rest.search(separator);
  return {
    before: from === undefined ? head : head.slice(from.index + from[0].length),
    after: to < 0 ? rest : rest.slice(0, to),
  };
}

function resolves({ before, after }: Clause): boolean {
  if (WEIGHED.test(before) || ON_CONDITION.test(after)) return false;
  if (RESOLVE.test(before) || ACTS.test(before)) return true;
  return PRAISED.test(after) && !/\b(?:if|unless|when|once)\b/iu.test(after);
}

/** What comes after the expert's action, not in its place: it was resolved on before, and nothing takes that back. */
function isPlan(
  all: readonly Sentence[],
  index: number,
  mention: Mention,
  clause: Clause,
  names: ActionNames,
): boolean {
  const sentences = all.slice(0, index + 1);
  const last = sentences.at(-1);
  if (last === undefined) return false;
  if (LATER.test(`${clause.before} ${clause.after}`) && alludes(all, names)) return true;
  if (TURNS.test(last.plain.slice(0, mention.start))) return false;
  return sentences.some(({ plain, mentions }) =>
    mentions.some((earlier) => {
      if (!earlier.expert || (plain === last.plain && earlier.start >= mention.start)) return false;
      const around = clauseOf(plain, earlier);
      return !REFUSED.test(around.before) && resolves(around);
    }),
  );
}

function namesOnlyAnother(sentences: readonly Sentence[], names: ActionNames): Finding | null {
  const index = sentences.findLastIndex(({ mentions }) => mentions.length > 0);
  const { text, plain, mentions } = sentences[index] ?? { text: '', plain: '', mentions: [] };
  const [mention] = mentions.toReversed();
  if (mention === undefined || REFUSED.test(plain.slice(0, mention.start)) || alludes(sentences, names))
    return null;
  const outside = `${plain.slice(0, mention.start)} ${plain.slice(mention.end)} ${sentences[index + 1]?.plain ?? ''}`;
  return AGAINST.test(outside) ? null : { flag: 'contradiction', evidence: excerpt(text) };
}

/** A word of the expert's action stands outside the names of other actions. */
function alludes(sentences: readonly Sentence[], { verb, things }: ActionNames): boolean {
  const words = verb.length > 2 ? [verb, ...things] : things;
  return sentences.some(({ plain, mentions }) => {
    let rest = plain;
    for (const { expert, start, end } of mentions.toReversed()) {
      if (!expert) rest = `${rest.slice(0, start)} ${rest.slice(end)}`;
    }
    return speaksOf(rest, words);
  });
}
