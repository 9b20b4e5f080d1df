/**
 * What the agent is shown: the one definition for acting, for proposing alternatives and for training rows, so that a row's
 * messages equal the evaluator's exactly.
 *
 * `append`: one conversation. The first user message holds task, observation and admissible actions; each later one only what
 * is new, so an episode's KV prefix is evaluated once. `window`: one new user message a step, as verl-agent shows it: task,
 * number of steps, the last n (observation, action) pairs, the current observation, admissible actions.
 *
 * `compact` leaves out what costs a small model most of its context: the system message names only the forms of the actions, and
 * no list of admissible actions follows an observation (what is possible must be read from what was observed).
 */
import type { Observation } from '#shared/schema/environment.ts';
import type { ParseStatus } from '#shared/schema/episode.ts';
import type { History, PromptStyle } from '#shared/schema/policy.ts';
import type { ModelMessage } from '#core/llm/port.ts';
import { fewShotMessages } from '#core/agents/few-shot.ts';

export interface PromptSettings {
  history: History;
  style: PromptStyle;
  thought: boolean;
  /** Examples in front, for base models in the completion format. */
  fewShot: boolean;
}

/** One past step: what was shown, what was answered, how it was read. */
export interface Turn {
  observation: Observation;
  /** The assistant message, as sampled or as a training row writes it. */
  answer: string;
  /** The ids that were sampled for `answer`; they are spliced into the next prompt, never re-tokenised. */
  tokens?: readonly number[];
  action: string;
  parseStatus: ParseStatus;
}

/** s_t as the policy sees it. */
export interface AgentState {
  instruction: string;
  /** From the environment: how an action looks. */
  actionGuide: string;
  history: readonly Turn[];
  observation: Observation;
}

export function agentMessages(state: AgentState, settings: PromptSettings): ModelMessage[] {
  return [
    { role: 'system', content: systemPrompt(state.actionGuide, settings) },
    ...(settings.fewShot ? fewShotMessages(settings.thought) : []),
    ...stateMessages(state, settings),
  ];
}

/** The conversation without its system message: shared with the world-model rows, which have their own. */
export function stateMessages(
  state: AgentState,
  { history, style }: Pick<PromptSettings, 'history' | 'style'>,
): ModelMessage[] {
  if (history.style === 'window') {
    return [{ role: 'user', content: windowMessage(state, history.steps, style) }];
  }
  const messages: ModelMessage[] = [];
  state.history.forEach((turn, index) => {
    messages.push({ role: 'user', content: appendMessage(state, index, style) });
    const tokens = turn.tokens === undefined ? {} : { tokens: turn.tokens };
    messages.push({ role: 'assistant', content: turn.answer, ...tokens });
  });
  messages.push({ role: 'user', content: appendMessage(state, state.history.length, style) });
  return messages;
}

export function systemPrompt(
  actionGuide: string,
  { style, thought }: Pick<PromptSettings, 'style' | 'thought'>,
): string {
  if (style === 'compact') return compactSystemPrompt(actionGuide, thought);
  const format = thought
    ? 'Answer with your reasoning and then one action, in exactly this form:\n' +
      '<think>your reasoning</think><action>your action</action>\n' +
      'The reasoning may be left out, the action may not.'
    : 'Answer with one action and nothing else, in exactly this form:\n<action>your action</action>';
  return (
    'You act in a world described in text. You are given a task; carry it out one action at a time. After each action you are ' +
    'told what you observe, and the actions that are admissible then.\n\n' +
    `${actionGuide.trim()}\n\n${format}`
  );
}

function compactSystemPrompt(actionGuide: string, thought: boolean): string {
  const form = `${thought ? '<think>your reasoning</think>' : ''}<action>your action</action>`;
  return `Carry out the task, one action at a time.\nActions: ${actionForms(actionGuide)}\nForm: ${form}`;
}

/** `- go to PLACE   e.g. go to desk 1 (any time)` → `go to PLACE`; a guide without such lines stays whole. */
function actionForms(actionGuide: string): string {
  const forms = actionGuide
    .split('\n')
    .flatMap((line) => /^- (.*?)(?:\s{2,}.*|\s+\(.*)?$/u.exec(line)?.[1] ?? []);
  return forms.length === 0 ? actionGuide.trim() : forms.join('; ');
}

/** What the user message of step `index` says; a function of the episode alone. */
function appendMessage(state: AgentState, index: number, style: PromptStyle): string {
  const observation = index < state.history.length ? state.history[index]?.observation : state.observation;
  if (observation === undefined) throw new RangeError(`no step ${String(index)} in this history`);
  const head = index === 0 ? taskLine(state, observation) : complaint(state.history[index - 1]?.parseStatus);
  return `${head}${observation.text.trim()}${admissibleLines(observation.admissible, style)}`;
}

/** Said once: household's first observation already ends with the task. */
function taskLine({ instruction }: AgentState, observation: Observation): string {
  return observation.text.includes(instruction) ? '' : `Task: ${instruction}\n\n`;
}

function windowMessage(state: AgentState, steps: number, style: PromptStyle): string {
  const taken = state.history.length;
  const shown = steps === 0 ? [] : state.history.slice(-steps);
  const lines = [`Task: ${state.instruction}`, ''];
  if (taken > 0) lines.push(`Steps taken so far: ${String(taken)}`);
  if (shown.length > 0) {
    lines.push(`The last ${String(shown.length)}:`);
    shown.forEach((turn, offset) => {
      const number = taken - shown.length + offset + 1;
      lines.push(`Observation ${String(number)}: ${turn.observation.text.trim()}`);
      lines.push(`Action ${String(number)}: ${turn.action === '' ? '(none)' : turn.action}`);
    });
    lines.push('');
  }
  lines.push(`Current observation: ${state.observation.text.trim()}`);
  const listed = admissibleLines(state.observation.admissible, style);
  return `${complaint(state.history.at(-1)?.parseStatus)}${lines.join('\n')}${listed}`;
}

function admissibleLines(admissible: readonly string[] | null, style: PromptStyle): string {
  if (admissible === null || style === 'compact') return '';
  return `\n\nAdmissible actions:\n${admissible.map((action) => `- ${action}`).join('\n')}`;
}

/** Without it a model that forgot the form never learns why nothing happened. */
function complaint(status: ParseStatus | undefined): string {
  switch (status) {
    case 'no-action':
    case 'empty-action':
    case 'unclosed':
      return 'Your last answer held no complete <action>…</action>.\n\n';
    case 'several-actions':
      return 'Your last answer held several actions; only the first one counts.\n\n';
    case 'ok':
    case undefined:
      return '';
  }
}
