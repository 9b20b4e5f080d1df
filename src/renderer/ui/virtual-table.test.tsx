import userEvent from '@testing-library/user-event';
import { screen } from '@testing-library/react';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { VirtualTable } from './virtual-table.tsx';

// happy-dom lays nothing out: the scroller gets the height of ten rows.
beforeAll(() => {
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(320);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(320);
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(800);
});

const rows = Array.from({ length: 1000 }, (_, index) => ({ id: `row-${String(index)}` }));

function table(options: {
  placeKey: string;
  onOpen?: (row: { id: string }) => void;
  onMore?: () => void;
  count?: number;
}) {
  return (
    <VirtualTable
      label="Things"
      columns={[{ id: 'id', header: 'Id', width: '1fr', cell: (row) => row.id }]}
      rows={rows.slice(0, options.count ?? rows.length)}
      rowKey={(row) => row.id}
      onOpen={options.onOpen ?? (() => undefined)}
      placeKey={options.placeKey}
      hasMore={options.onMore !== undefined}
      {...(options.onMore === undefined ? {} : { onMore: options.onMore })}
    />
  );
}

function chosen(): string | null {
  return (
    screen.getAllByRole('row').find((row) => row.getAttribute('aria-selected') === 'true')?.textContent ??
    null
  );
}

describe('VirtualTable', () => {
  it('draws only what can be seen of a thousand rows', () => {
    renderUi(table({ placeKey: 'a' }));
    const drawn = screen.getAllByRole('row').length;
    expect(drawn).toBeGreaterThan(5);
    expect(drawn).toBeLessThan(60);
  });

  it('moves with arrows, j and k, Home and End, and opens with Enter', async () => {
    const onOpen = vi.fn();
    renderUi(table({ placeKey: 'b', onOpen }));
    const user = userEvent.setup();
    screen.getByRole('grid').focus();
    await user.keyboard('{ArrowDown}');
    expect(chosen()).toBe('row-0');
    await user.keyboard('{ArrowDown}j');
    expect(chosen()).toBe('row-2');
    await user.keyboard('{ArrowUp}k{ArrowUp}');
    expect(chosen()).toBe('row-0');
    await user.keyboard('j{Enter}');
    expect(onOpen).toHaveBeenCalledExactlyOnceWith({ id: 'row-1' });
    await user.keyboard('{Home}');
    expect(chosen()).toBe('row-0');
  });

  it('Enter without a choice opens the row that the keyboard stands on', async () => {
    const onOpen = vi.fn();
    renderUi(table({ placeKey: 'c', onOpen }));
    screen.getByRole('grid').focus();
    await userEvent.keyboard('{Enter}');
    expect(onOpen).toHaveBeenCalledExactlyOnceWith({ id: 'row-0' });
  });

  it('finds the same row again when one comes back to the same list, and not in another', async () => {
    const first = renderUi(table({ placeKey: 'd?filter=1' }));
    screen.getByRole('grid').focus();
    await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}');
    first.unmount();
    const other = renderUi(table({ placeKey: 'd?filter=2' }));
    expect(chosen()).toBeNull();
    other.unmount();
    renderUi(table({ placeKey: 'd?filter=1' }));
    expect(chosen()).toBe('row-2');
  });

  it('asks for the next page when the end of what is loaded comes near', () => {
    const near = vi.fn();
    renderUi(table({ placeKey: 'e', onMore: near, count: 20 }));
    expect(near).toHaveBeenCalledOnce();
    const far = vi.fn();
    renderUi(table({ placeKey: 'f', onMore: far, count: 1000 }));
    expect(far).not.toHaveBeenCalled();
  });
});
