import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { JobState } from '#shared/schema/job.ts';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { RunActions } from './run-actions.tsx';

it.each<[JobState, string[]]>([
  ['running', ['Pause', 'Cancel']],
  ['pausing', ['Resume', 'Cancel']],
  ['paused', ['Resume', 'Cancel']],
  ['failed', ['Resume', 'Remove']],
  ['cancelled', ['Remove']],
  ['succeeded', ['Remove']],
])('offers for a %s training only what its state allows', (state, buttons) => {
  const job = jobSchema.parse({
    jobId: 'j',
    parentId: null,
    stage: null,
    kind: 'train',
    title: 'Train il',
    spec: {},
    seed: 1,
    state,
    attempt: 1,
    progress: null,
    result: null,
    error: null,
    createdAt: 1,
    startedAt: 1,
    finishedAt: null,
    activeMs: 0,
    activeAt: null,
    lastEventAt: 1,
  });
  renderUi(
    <QueryClientProvider client={new QueryClient()}>
      <RunActions job={job} listHref="/training" />
    </QueryClientProvider>,
  );
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual(buttons);
});
