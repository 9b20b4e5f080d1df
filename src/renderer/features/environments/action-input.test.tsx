import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { ActionInput } from './action-input.tsx';

const actions = ['go to desk 1', 'go to bed 1', 'open drawer 1', 'take mug 1 from desk 1'];

function setUp() {
  const onAct = vi.fn<(action: string) => void>();
  renderUi(<ActionInput actions={actions} onAct={onAct} />);
  return { onAct, user: userEvent.setup(), field: screen.getByLabelText('Action') };
}

describe('acting by keyboard', () => {
  it('takes one of the first nine actions by its digit', async () => {
    const { onAct, user, field } = setUp();
    await user.type(field, '3');
    expect(onAct).toHaveBeenCalledExactlyOnceWith('open drawer 1');
  });

  it('takes a digit as text once something is typed', async () => {
    const { onAct, user, field } = setUp();
    await user.type(field, 'mug 1');
    expect(onAct).not.toHaveBeenCalled();
    expect(field).toHaveProperty('value', 'mug 1');
  });

  it('filters by every typed word and takes the first match with Enter', async () => {
    const { onAct, user, field } = setUp();
    await user.type(field, 'desk go');
    expect(screen.getAllByRole('button').map((button) => button.textContent)).toEqual(['1go to desk 1']);
    await user.keyboard('{Enter}');
    expect(onAct).toHaveBeenCalledExactlyOnceWith('go to desk 1');
  });

  it('chooses with the arrows', async () => {
    const { onAct, user, field } = setUp();
    await user.type(field, 'go{ArrowDown}{Enter}');
    expect(onAct).toHaveBeenCalledExactlyOnceWith('go to bed 1');
  });

  it('sends what matches nothing, and with Shift+Enter what was typed, as it stands', async () => {
    const { onAct, user, field } = setUp();
    await user.type(field, 'dance{Enter}');
    expect(onAct).toHaveBeenLastCalledWith('dance');
    await user.clear(field);
    await user.type(field, 'go{Shift>}{Enter}{/Shift}');
    expect(onAct).toHaveBeenLastCalledWith('go');
  });

  it('takes a digit wherever the focus is, as after a click on a hint', async () => {
    const { onAct, user, field } = setUp();
    field.blur();
    await user.keyboard('2');
    expect(onAct).toHaveBeenCalledExactlyOnceWith('go to bed 1');
    await user.keyboard('9');
    expect(onAct).toHaveBeenCalledTimes(1);
  });
});
