import { useState } from 'react';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { FilterBar } from './filter-bar.tsx';
import { readQuery, writeQuery } from './filters.ts';

/** The bar over a query string, as the page wires it over the URL. */
function Harness({ start, onUrl }: { start: string; onUrl: (url: string) => void }) {
  const [url, setUrl] = useState(start);
  return (
    <FilterBar
      query={readQuery(new URLSearchParams(url))}
      facets={{
        environments: ['household', 'household-small'],
        taskTypes: ['pick'],
        policies: [],
        errorCodes: [],
      }}
      onChange={(query) => {
        const next = writeQuery(query, new URLSearchParams(url)).toString();
        setUrl(next);
        onUrl(next);
      }}
    />
  );
}

function setUp(start = '') {
  let url = start;
  renderUi(
    <Harness
      start={start}
      onUrl={(next) => {
        url = next;
      }}
    />,
  );
  return { user: userEvent.setup(), url: () => url };
}

describe('filter bar over the URL', () => {
  it('writes a chosen value into the URL', async () => {
    const { user, url } = setUp('step=3');
    await user.click(screen.getByRole('combobox', { name: 'Outcome' }));
    await user.click(await screen.findByText('No success'));
    expect(url()).toBe('step=3&success=false');
  });

  it('shows what the URL holds, even a value that no episode has', () => {
    setUp('environment=alfworld&min-steps=4');
    expect(screen.getByRole('combobox', { name: 'World' })).toHaveProperty('value', 'alfworld');
    expect(screen.getByText('More (1)')).toBeTruthy();
    expect(screen.getByText('Clear 2')).toBeTruthy();
  });

  it('asks only once the typing rests', async () => {
    const { user, url } = setUp();
    await user.type(screen.getByLabelText('Search the instruction'), 'mug');
    expect(url()).toBe('');
    await waitFor(() => {
      expect(url()).toBe('text=mug');
    });
  });

  it('clears everything at once', async () => {
    const { user, url } = setUp('environment=household&text=mug&sort=steps');
    await user.click(screen.getByText('Clear 2'));
    expect(url()).toBe('sort=steps');
  });
});
