import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Client } from '#shared/contract/index.ts';
import { jobIdSchema } from '#shared/ids.ts';
import { eventLevels, jobEventSchema } from '#shared/schema/job.ts';
import type { JobEvent } from '#shared/schema/job.ts';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { RunLog } from './run-log.tsx';
import { addToOpenLog } from './use-log.ts';

const jobId = jobIdSchema.parse('job');
const count = 2450;

function event(seq: number): JobEvent {
  const level = seq % 1000 === 1 ? 'error' : seq % 100 === 2 ? 'warn' : 'info';
  return jobEventSchema.parse({
    seq,
    jobId,
    at: seq,
    type: 'tick',
    level,
    message: `line ${String(seq)} of the story`,
    data: {},
  });
}

/** As the store answers: newest first, by level and page. */
const host = vi.hoisted(() => ({ stored: [] as unknown[], queryClient: null as unknown }));
const events: Client['jobs']['events'] = ({ level = 'info', limit = 50, cursor = null }) => {
  const least = eventLevels.indexOf(level);
  const all = (host.stored as JobEvent[])
    .filter((one) => eventLevels.indexOf(one.level) >= least)
    .toSorted((left, right) => right.seq - left.seq);
  const rest = all.filter(({ seq }) => cursor === null || seq < Number(cursor));
  const items = rest.slice(0, limit);
  const nextCursor = rest.length > limit ? String(items.at(-1)?.seq) : null;
  return Promise.resolve({ items, nextCursor, total: cursor === null ? all.length : null });
};
vi.mock('../../../rpc/client.ts', () => ({
  client: { jobs: { events: (...input: Parameters<typeof events>) => events(...input) } },
  get queryClient() {
    return host.queryClient;
  },
}));

beforeEach(() => {
  host.stored = Array.from({ length: count }, (_, index) => event(index + 1));
  const queries = new QueryClient();
  host.queryClient = queries;
  window.history.replaceState(null, '', '/');
  renderUi(
    <QueryClientProvider client={queries}>
      <RunLog jobId={jobId} stages={[]} stageId={null} />
    </QueryClientProvider>,
  );
});

const lines = () => screen.queryAllByText(/ of the story$/).map(({ textContent }) => textContent);

it('goes back to the very first event, however long the story is', async () => {
  await screen.findByText('the newest 200 of 2,450 lines');
  for (let page = 2; page <= Math.ceil(count / 200); page += 1) {
    fireEvent.click(screen.getByRole('button', { name: 'More lines' }));
    await waitFor(() => expect(lines()).toHaveLength(Math.min(count, page * 200)));
  }
  expect(lines().at(-1)).toBe('line 1 of the story');
  expect(screen.getByText('2,450 lines')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'More lines' })).toBeNull();
}, 30_000);

it('asks the store for warnings, and finds those that lie behind a thousand other lines', async () => {
  await screen.findByText('the newest 200 of 2,450 lines');
  fireEvent.click(screen.getByText('Errors'));
  await waitFor(() =>
    expect(lines()).toEqual([2001, 1001, 1].map((seq) => `line ${String(seq)} of the story`)),
  );
  fireEvent.click(screen.getByText('Warnings'));
  await screen.findByText('28 lines');
  expect(lines().at(-1)).toBe('line 1 of the story');
});

it('adds what happens above what it has read, by the chosen level', async () => {
  await screen.findByText('the newest 200 of 2,450 lines');
  addToOpenLog(jobId, [event(2451), event(2502)]);
  await screen.findByText('the newest 202 of 2,452 lines');
  expect(lines().slice(0, 3)).toEqual([2502, 2451, 2450].map((seq) => `line ${String(seq)} of the story`));
  fireEvent.click(screen.getByText('Warnings'));
  await screen.findByText('29 lines');
  expect(lines()[0]).toBe('line 2502 of the story');
});
