import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { makeEpisode } from '#test/helpers/store-records.ts';
import { EpisodeFacts } from './episode-facts.tsx';

const valueOf = (name: string) => screen.queryByText(name)?.nextElementSibling?.textContent;

describe('the facts of an episode', () => {
  it('tell how long its prompts were and how much of them was evaluated', () => {
    renderUi(<EpisodeFacts episode={makeEpisode(0, { promptTokens: 12_345, evaluatedPromptTokens: 678 })} />);
    expect(valueOf('Prompt')).toBe('12,345 tokens, 678 evaluated');
  });

  it('do not call the prompts of a server empty that told no lengths', () => {
    const counts = { promptTokens: 0, evaluatedPromptTokens: 12_345, completionTokens: 0 };
    renderUi(<EpisodeFacts episode={makeEpisode(0, counts)} />);
    expect(valueOf('Prompt')).toBe('12,345 tokens evaluated');
    expect(valueOf('Completion')).toBeUndefined();
  });
});
