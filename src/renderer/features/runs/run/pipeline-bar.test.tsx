import { screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { jobSchema } from '#shared/schema/job.ts';
import type { Job } from '#shared/schema/job.ts';
import { renderUi } from '#test/helpers/render-ui.tsx';
import { PipelineBar } from './pipeline-bar.tsx';

const start = 1_000_000;

function stage(name: string, change: object): Job {
  return jobSchema.parse({
    jobId: name,
    parentId: 'p',
    stage: name,
    kind: name,
    title: name,
    spec: {},
    seed: 1,
    state: 'succeeded',
    attempt: 1,
    progress: { done: 6, total: 6, unit: 'demonstrations', phase: 'Writing' },
    result: null,
    error: null,
    createdAt: start,
    startedAt: start,
    finishedAt: null,
    activeMs: 0,
    activeAt: null,
    lastEventAt: start,
    ...change,
  });
}

function bar(stages: Job[], now: number) {
  return (
    <PipelineBar
      parent={null}
      stages={stages}
      selected={null}
      now={now}
      sign={now}
      onSelect={() => undefined}
    />
  );
}

it('counts the rows of an export, not the demonstrations that it read', () => {
  const result = {
    files: [
      { part: 'expert_sft', rows: 30 },
      { part: 'iwm_sft', rows: 270 },
    ],
  };
  renderUi(bar([stage('export', { result, activeMs: 74 })], start));
  const card = screen.getByRole('button');
  expect(within(card).getByText('300 rows')).toBeTruthy();
  expect(card.textContent).not.toContain('demonstrations');
});

it('never lets the elapsed time of a stage go back when it pauses and goes on', () => {
  const running = { state: 'running', progress: { done: 5, total: 60, unit: 'states', phase: 'Branching' } };
  const shown: string[] = [];
  const view = renderUi(bar([stage('branching', { ...running, activeMs: 0, activeAt: start })], start));
  const see = (change: object, now: number) => {
    view.rerender(bar([stage('branching', { ...running, ...change })], now));
    shown.push(screen.getByText(/^\d+ s$/).textContent);
  };
  see({ activeMs: 0, activeAt: start }, start + 15_000);
  // The page's clock ticked before it heard that the job had stopped.
  see({ state: 'paused', activeMs: 14_200 }, start + 15_100);
  see({ state: 'paused', activeMs: 14_200 }, start + 60_000);
  see({ activeMs: 14_200, activeAt: start + 60_000 }, start + 60_500);
  see({ activeMs: 14_200, activeAt: start + 60_000 }, start + 65_000);
  expect(shown).toEqual(['15 s', '15 s', '15 s', '15 s', '19 s']);
});

it('shows the title of a run of one stage as it is, hyphens included', () => {
  renderUi(
    bar([stage('t', { stage: null, kind: 'train', title: 'Train iwm-il on random-weights-a' })], start),
  );
  expect(screen.getByText('1. Train iwm-il on random-weights-a')).toBeTruthy();
});
