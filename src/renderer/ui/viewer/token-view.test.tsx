import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { TokenView } from './token-view.tsx';
import type { ViewToken } from './token-view.tsx';

const tokens: ViewToken[] = [
  { id: 7, text: 'Act:', logprob: null, part: 'prompt' },
  { id: 11, text: ' go', logprob: Math.log(0.95), part: 'completion' },
  { id: 12, text: ' to', logprob: Math.log(0.02), part: 'completion' },
];

describe('token view', () => {
  it('shades sampled tokens by probability and hides the prompt until asked', () => {
    renderUi(<TokenView tokens={tokens} />);
    expect(screen.getByText('go').dataset.shade).toBe('0');
    expect(screen.getByText('to').dataset.shade).toBe('3');
    expect(screen.queryByText('Act:')).toBeNull();
    fireEvent.click(screen.getByRole('checkbox'));
    expect(screen.getByText('Act:').dataset.shade).toBeUndefined();
  });

  it('shows id, log-probability and probability of the token under the pointer', () => {
    renderUi(<TokenView tokens={tokens} />);
    expect(screen.getByText(/2 sampled tokens/)).toBeTruthy();
    fireEvent.mouseEnter(screen.getByText('to'));
    expect(screen.getByText(/" to" · id 12 · log p -3\.9120 · p 2\.0 %/)).toBeTruthy();
    fireEvent.mouseLeave(screen.getByText('to'));
    expect(screen.getByText(/2 sampled tokens/)).toBeTruthy();
  });
});
