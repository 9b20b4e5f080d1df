import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { StepFacts } from './step-facts.tsx';

const state = 'a'.repeat(64);
const outcome = 'b'.repeat(64);

describe('the facts of a step', () => {
  it('name the hash of the state shown apart from the hash of its outcome', () => {
    renderUi(
      <StepFacts
        step={{
          episodeId: 'e' as never,
          stepIndex: 9,
          promptHash: null,
          completion: null,
          thought: null,
          action: 'look',
          parseStatus: 'ok',
          valid: true,
          observation: 'You see a mug.',
          admissible: null,
          observationHash: outcome as never,
          stateHash: state,
          reward: 0,
          terminated: false,
          truncated: false,
          error: null,
          modelMs: 0,
          environmentMs: 0,
          createdAt: 0,
          branches: 0,
          completionTokens: 0,
        }}
      />,
    );
    expect(screen.getByText('Hash of s₉').nextElementSibling?.textContent).toBe(state.slice(0, 12));
    expect(screen.getByText('Hash of s₁₀').nextElementSibling?.textContent).toBe(outcome.slice(0, 12));
  });
});
