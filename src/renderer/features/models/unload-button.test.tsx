import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { UnloadButton } from './unload-button.tsx';

function button(users: number) {
  const onUnload = vi.fn();
  renderUi(<UnloadButton users={users} loading={false} onUnload={onUnload} />);
  return { onUnload, element: screen.getByRole('button', { name: 'Unload' }) };
}

describe('unloading a model', () => {
  it('is grey with its reason while a job holds the model, and asks the host for nothing', async () => {
    const { onUnload, element } = button(2);
    expect(element.getAttribute('aria-disabled')).toBe('true');
    expect(element.title).toContain('2 jobs or try-outs');
    await userEvent.click(element, { pointerEventsCheck: 0 });
    expect(onUnload).not.toHaveBeenCalled();
  });

  it('unloads a model that nobody holds', async () => {
    const { onUnload, element } = button(0);
    await userEvent.click(element);
    expect(onUnload).toHaveBeenCalledOnce();
  });
});
