import { describe, expect, it } from 'vitest';
import type { StepView } from '../../ui/viewer/step-view.ts';
import { stepMarkdown } from './markdown.ts';

const step: StepView = {
  index: 2,
  state: 'You see a ```drawer 1```.',
  admissible: null,
  thought: '',
  action: 'open drawer 1',
  outcome: 'You open the drawer 1.',
  reward: 0,
  marks: [],
};

describe('copying a step as Markdown', () => {
  it('fences an observation that holds a fence itself', () => {
    expect(stepMarkdown(step)).toContain('````text\nYou see a ```drawer 1```.\n````');
  });

  it('leaves out an empty thought', () => {
    expect(stepMarkdown(step)).not.toContain('Thought');
    expect(stepMarkdown({ ...step, thought: 'Look inside.' })).toContain('Thought');
  });
});
