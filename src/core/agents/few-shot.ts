/**
 * Examples for base models without a chat template, in the prompt's own form. They come from an errand in another world (a
 * post office), so they show the form and give away nothing of the environment that is measured.
 */
import type { ModelMessage } from '#core/llm/port.ts';
import { formatAnswer } from '#core/agents/answer.ts';

const errand: { user: string; thought: string; action: string }[] = [
  {
    user:
      'Task: post the blue letter.\n\nYou stand at the counter of a post office. On the counter lie a blue letter and a stamp.\n\n' +
      'Admissible actions:\n- pick up the blue letter\n- walk to the mailbox\n- read the notice',
    thought: 'The letter must be in my hand before I can post it.',
    action: 'pick up the blue letter',
  },
  {
    user: 'You hold the blue letter.\n\nAdmissible actions:\n- lay down the blue letter\n- walk to the mailbox\n- read the notice',
    thought: 'Letters are posted at the mailbox, so I go there.',
    action: 'walk to the mailbox',
  },
  {
    user:
      'You stand before the mailbox, the blue letter in your hand.\n\n' +
      'Admissible actions:\n- drop the blue letter into the mailbox\n- walk to the counter',
    thought: 'I am at the mailbox and hold the letter.',
    action: 'drop the blue letter into the mailbox',
  },
];

/** New objects on each call: what is shared must not be mutable. */
export function fewShotMessages(thought: boolean): ModelMessage[] {
  return errand.flatMap(({ user, thought: why, action }): ModelMessage[] => [
    { role: 'user', content: user },
    { role: 'assistant', content: formatAnswer({ thought: thought ? why : null, action }) },
  ]);
}
