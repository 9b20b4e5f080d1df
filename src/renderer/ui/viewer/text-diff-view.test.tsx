import { describe, expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { TextDiffView } from './text-diff-view.tsx';

describe('diff of two outcomes', () => {
  it('marks what only the expert says as del and what only the alternative says as ins', () => {
    const { container } = renderUi(
      <TextDiffView
        left="You open the fridge 1."
        right="You open the safe 1."
        leftTitle="Expert"
        rightTitle="Alternative"
      />,
    );
    expect([...container.querySelectorAll('del')].map((node) => node.textContent)).toEqual(['fridge']);
    expect([...container.querySelectorAll('ins')].map((node) => node.textContent)).toEqual(['safe']);
  });

  it('says so in words when both outcomes are the same', () => {
    const { container } = renderUi(
      <TextDiffView
        left="Nothing happens."
        right="Nothing happens."
        leftTitle="Expert"
        rightTitle="Alternative"
      />,
    );
    expect(container.textContent).toContain('The same text, word for word.');
    expect(container.querySelectorAll('del, ins')).toHaveLength(0);
  });
});
