/**
 * Self-reflection (section 4.3): from really executed outcomes, a language model writes the reasoning c_i^j for the expert's
 * action over the alternatives; L_SR = − Σ log p_θ(c_i^j, a_i | s_i), Eq. 4. The generator sees the outcomes; the policy is
 * trained on s_i alone, target c ∘ a_i.
 *
 * Two templates. `paper` has the parts of section 4.3, in our words. `anticipatory` renames the slot that leaked the label “expert
 * action” into a sixth of the texts, and asks for expectation where the paper's “grounded in the expected outcome” made the
 * generator tell outcomes as already seen (part 3, lesson 3).
 */
import type { Branch } from '#shared/schema/branch.ts';
import type { PlainMessage } from '#shared/schema/dataset.ts';
import type { AgentState, PromptSettings } from '#core/agents/index.ts';
import { agentMessages, formatAnswer } from '#core/agents/index.ts';

export type ReflectionTemplate = 'paper' | 'anticipatory';

export interface ReflectionCase {
  family: string;
  state: AgentState;
  expertAction: string;
  /** s_{i+1} */
  expertOutcome: string;
  /** (a_i^j, s_i^j), really executed. */
  alternatives: readonly Pick<Branch, 'action' | 'observation'>[];
  maxWords: number;
}

export function reflectionPrompt(template: ReflectionTemplate, example: ReflectionCase): string {
  return template === 'paper' ? paperPrompt(example) : anticipatoryPrompt(example);
}

function paperPrompt({ family, state, expertAction, expertOutcome, alternatives }: ReflectionCase): string {
  const listed = alternatives.map(
    ({ action, observation }, index) =>
      `${String(index + 1)}. Action: ${action}\n   Resulting state: ${indented(observation)}`,
  );
  return [
    'You are given a situation in which several actions are possible. Analyse it and reason about why the expert action is the one to take.',
    `Situation:\n${situation(family, state)}`,
    `Expert action:\n${expertAction}`,
    `Expected outcome:\n${expertOutcome.trim()}`,
    `Alternative actions:\n${listed.join('\n')}`,
    'Write a detailed inner monologue that\n' +
      '(1) analyses the situation and the goal,\n' +
      '(2) compares the possible actions and says why each alternative may be less good,\n' +
      '(3) justifies the expert action, grounded in the expected outcome,\n' +
      '(4) points at the clues, constraints and consequences that matter.',
    'Guidelines: use only the information given here. Do not speak of being an AI. Reason naturally, step by step, and stay with the decision.',
    'Output only the monologue: no heading, no disclaimer, no note.',
  ].join('\n\n');
}

function anticipatoryPrompt({
  family,
  state,
  expertAction,
  expertOutcome,
  alternatives,
  maxWords,
}: ReflectionCase): string {
  const others = alternatives.map(
    ({ action, observation }) => `- ${action}\n  would lead to: ${indented(observation)}`,
  );
  return [
    'Think as the one who stands in the situation below and is about to act. Nothing has been done yet.',
    `What you know:\n${situation(family, state)}`,
    `What you are about to do:\n${expertAction}`,
    `What it would lead to (you cannot know this yet):\n${expertOutcome.trim()}`,
    `What else could be done:\n${others.join('\n')}`,
    'Write your thoughts just before acting: what the goal still needs, why this is the step to take now, and why the other things that could be done would help less.',
    'Rules: use what would happen only to judge what is wise; say what you expect, never what you have seen happen. ' +
      'Mention nothing that can be learnt only by acting. Do not number or letter the choices. ' +
      `Write in the first person, in plain sentences, at most ${String(Math.max(20, Math.floor(maxWords / 2)))} words. ` +
      'Write the thoughts only.',
  ].join('\n\n');
}

/**
 * What the prompt carries of the state, per family (appendix B). ALFWorld: the current state and the actions at hand. Families
 * whose recipe names more (TravelPlanner's budget, SearchQA's documents) state it in their observation already.
 */
export function situation(family: string, state: AgentState): string {
  const past = state.history.map((turn) => `${turn.observation.text.trim()}\n> ${turn.action}`);
  const now = state.observation.text.trim();
  const lines = [`Task: ${state.instruction}`, '', ...past, now];
  const admissible = state.observation.admissible;
  if (admissible !== null && admissible.length > 0) {
    const title = TOOL_FAMILIES.has(family) ? 'Available tools' : 'Actions at hand';
    lines.push('', `${title}: ${admissible.join('; ')}`);
  }
  return lines.join('\n');
}

const TOOL_FAMILIES: ReadonlySet<string> = new Set(['tools', 'desk', 'science']);

/** From the raw answer to the monologue: without tags, heading, fence or quotes; what follows an `<action>` is not reasoning. */
export function cleanReflection(raw: string): string {
  let text = raw;
  const afterThought = text
    .split(/<\/think>/iu)
    .slice(1)
    .join('')
    .trim();
  if (afterThought !== '' && !/^<action>/iu.test(afterThought)) text = afterThought;
  text = text.split(/<action>/iu)[0] ?? '';
  text = text
    .replace(/<\/?(?:think|action)>/giu, '')
    .replace(/```\w*/gu, '')
    .trim();
  text = text.replace(
    /^(?:[#*_\s]*)(?:inner |internal )?(?:monologue|reflection|thoughts?)\s*[:*_]+\s*/iu,
    '',
  );
  const quoted = /^["“](.*)["”]$/su.exec(text);
  if (quoted?.[1] !== undefined && !/["“”]/u.test(quoted[1])) text = quoted[1];
  return text.replace(/\n{2,}/gu, '\n').trim();
}

/** Eq. 4: input s_i only, target c ∘ a_i. */
export function reflectionMessages(
  state: AgentState,
  text: string,
  expertAction: string,
  settings: PromptSettings,
): PlainMessage[] {
  const input = agentMessages(state, settings);
  return [
    ...input.map(({ role, content }): PlainMessage => ({ role, content })),
    { role: 'assistant', content: formatAnswer({ thought: text, action: expertAction }) },
  ];
}

function indented(text: string): string {
  return text.trim().replace(/\n+/gu, '\n   ');
}
