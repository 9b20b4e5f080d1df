/**
 * Implicit world modelling (section 4.2): L_IWM = − Σ log p_θ(s_i^j | s_i, a_i^j), Eq. 3. The same parameters as the policy
 * predict the next state's text from the state and an action; loss on the target only.
 *
 * The input carries the history, as the paper does in WebShop and BFCL (appendix B.2, B.3). It is the policy's own conversation up
 * to s_i, closed by the branched action, under its own system prompt, and the target begins with `Observation:` — without that
 * separation a policy was seen to answer with observations instead of actions ([R0], part 3 lesson 5).
 */
import type { Branch } from '#shared/schema/branch.ts';
import type { PlainMessage } from '#shared/schema/dataset.ts';
import type { AgentState, PromptSettings } from '#core/agents/index.ts';
import { formatAnswer, stateMessages } from '#core/agents/index.ts';

const IWM_DELIMITER = 'Observation:';

const SYSTEM =
  'You predict what a world described in text answers. You are shown a task, what was observed and done so far, and the next ' +
  `action. Write what is observed after that action and nothing else, beginning with “${IWM_DELIMITER}”. An action that the world ` +
  'does not understand or allow is answered by the world’s own error message.';
const COMPACT_SYSTEM = `Say what is observed after the last action, beginning with “${IWM_DELIMITER}”.`;
const QUESTION = 'What is observed after this action?';

/** null where nothing is left to predict. */
export function iwmMessages(
  state: AgentState,
  branch: Pick<Branch, 'action' | 'observation'>,
  options: Pick<PromptSettings, 'history' | 'style'> & { stripRewardText: boolean },
): PlainMessage[] | null {
  const observed = iwmTarget(branch, options);
  if (observed === null) return null;
  return [
    { role: 'system', content: options.style === 'compact' ? COMPACT_SYSTEM : SYSTEM },
    ...stateMessages(state, options).map(({ role, content }): PlainMessage => ({ role, content })),
    { role: 'assistant', content: formatAnswer({ thought: null, action: branch.action }) },
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: `${IWM_DELIMITER} ${observed}` },
  ];
}

/** The next state's text as it is predicted; null where nothing is left of it. */
export function iwmTarget(
  { observation }: Pick<Branch, 'observation'>,
  options: { stripRewardText: boolean },
): string | null {
  const observed = options.stripRewardText ? stripRewardText(observation) : observation.trim();
  return observed === '' ? null : observed;
}

/**
 * The method is reward-free, yet WebShop prints the score after a purchase (appendix B.2): lines that state a score or reward go,
 * with the number on a line of its own after them.
 */
export function stripRewardText(text: string): string {
  const kept: string[] = [];
  let scoreLine = false;
  for (const line of text.split('\n')) {
    const states = /^\W*(?:your |the |final |total |current )*(?:score|reward)\b/iu.test(line);
    const bareNumber = scoreLine && /^\s*-?\d+(?:\.\d+)?\s*$/u.test(line);
    if (!states && !bareNumber)
      kept.push(line.replace(/\s*[[(](?:score|reward)\s*[:=]\s*-?[\d.]+[\])]/giu, ''));
    scoreLine = states || (scoreLine && line.trim() === '');
  }
  return kept.join('\n').trim();
}
