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
    training: {
      devices: {
        queryOptions: () => ({
          queryKey: ['devices'],
          queryFn: () => [
            { device: 'cpu', name: 'Eight-core processor', reason: null },
            { device: 'cuda', name: null, reason: 'No driver is installed.' },
          ],
        }),
      },
    },
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

it('offers the devices that the trainer found, and greys the others with the reason', async () => {
  renderUi(<Harness />);
  expect(await screen.findAllByText('Eight-core processor')).not.toHaveLength(0);
  await userEvent.click(screen.getByLabelText('Device'));
  const options = await screen.findAllByRole('option');
  expect(options.map(({ textContent }) => textContent)).toEqual([
    'cpu Eight-core processor',
    'cuda not here: No driver is installed.',
  ]);
  expect(options[1]?.getAttribute('data-combobox-disabled')).toBe('true');
  await userEvent.click(screen.getByText('not here: No driver is installed.'));
  expect(current).toEqual({});
});

it('lets alpha follow the rank until it was set', async () => {
  renderUi(<Harness />);
  const alpha = screen.getByLabelText('LoRA alpha');
  expect(alpha.getAttribute('placeholder')).toBe('32');
  await userEvent.type(screen.getByLabelText('LoRA rank'), '4');
  expect(alpha.getAttribute('placeholder')).toBe('8');
  expect(current).toEqual({ weights: { rank: 4 } });
  await userEvent.type(alpha, '5');
  await userEvent.clear(screen.getByLabelText('LoRA rank'));
  await userEvent.type(screen.getByLabelText('LoRA rank'), '2');
  expect(current).toEqual({ weights: { rank: 2, alpha: 5 } });
});

it('says ranges in words, and that a limit itself is too little', () => {
  renderUi(<Harness />);
  expect(document.querySelector('[data-field="weights.alpha"]')?.textContent).toContain('above 0');
  expect(document.querySelector('[data-field="learningRate"]')?.textContent).toContain('above 0, at most 1');
  expect(document.querySelector('[data-field="clipNorm"]')?.textContent).toContain('at least 0');
});

it('takes rank and alpha off the form while a training goes on from an adapter', async () => {
  renderUi(<Harness />);
  expect(screen.getByLabelText('LoRA rank')).toBeTruthy();
  await userEvent.click(screen.getByLabelText('Adapter'));
  await userEvent.paste('/a.gguf');
  expect(current).toEqual({ adapter: { path: '/a.gguf' } });
  expect(screen.queryByLabelText('LoRA rank')).toBeNull();
});

it('says what emptied LoRA targets mean, and what going on from an adapter keeps', () => {
  renderUi(<Harness />);
  expect(screen.getByLabelText('LoRA targets').getAttribute('placeholder')).toMatch(/^attn_q, .*ffn_down$/);
  expect(screen.getByText(/training goes on from it, with its rank, alpha and targets/)).toBeTruthy();
});
