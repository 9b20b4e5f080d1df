import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { checkDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import { TrainingForm } from './training-form.tsx';

// The pickers ask the host for its models and data sets.
vi.mock('../../rpc/client.ts', () => ({
  orpc: {
    models: { list: { queryOptions: () => ({ queryKey: ['models'], queryFn: () => [] }) } },
    datasets: {
      list: {
        queryOptions: () => ({
          queryKey: ['datasets'],
          queryFn: () => ({ items: [{ datasetId: 'data-1', name: 'Household' }] }),
        }),
      },
    },
  },
}));

let current: Draft = {};
function Harness() {
  const [draft, setDraft] = useState<Draft>({});
  current = draft;
  return (
    <QueryClientProvider client={new QueryClient()}>
      <TrainingForm draft={draft} problems={checkDraft(draft).problems} onChange={setDraft} />
    </QueryClientProvider>
  );
}

it('writes what is typed, small numbers digit by digit, and takes an emptied field back to its default', async () => {
  renderUi(<Harness />);
  const rate = screen.getByLabelText('Learning rate');
  expect(rate.getAttribute('placeholder')).toBe('0.0002');
  await userEvent.type(rate, '0.005');
  expect(current).toEqual({ learningRate: 0.005 });
  await userEvent.clear(rate);
  await userEvent.tab();
  expect(current).toEqual({});
});

it('offers the stored data sets by name, and takes a typed path for a folder', async () => {
  renderUi(<Harness />);
  const field = screen.getByLabelText('Data set');
  await userEvent.click(field);
  await userEvent.click(await screen.findByText(/^Household/));
  expect(current).toEqual({ dataset: { datasetId: 'data-1' } });
  await userEvent.clear(field);
  await userEvent.type(field, '/rows');
  expect(current).toEqual({ dataset: { folder: '/rows' } });
});

it('asks for epochs of next states only where the recipe has that stage', async () => {
  renderUi(<Harness />);
  expect(screen.queryByLabelText('IWM epochs')).toBeNull();
  await userEvent.click(screen.getByLabelText('Recipe'));
  await userEvent.click(await screen.findByText('iwm-sr'));
  expect(screen.getByLabelText('IWM epochs')).toBeTruthy();
});
