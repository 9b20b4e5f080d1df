import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Job } from '#shared/schema/job.ts';
import { ProgressView } from './progress.ts';

it('says what a pausing job waits for, in the words of the log', () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 200 });
  const view = new ProgressView({ stream: stream as unknown as NodeJS.WriteStream });
  const progress = { phase: 'Acting', done: 2, total: 9, unit: 'episodes', inFlight: 1 };
  view.update({ state: 'pausing', progress } as Job, 0);
  expect(String(stream.read())).toContain('Pausing: waits for the episode in flight');
  view.stop();
});

it('says in a terminal how long it still takes, in words, once that can be told', () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 200 });
  const view = new ProgressView({ stream: stream as unknown as NodeJS.WriteStream });
  const at = (done: number, now: number) => {
    view.update({ progress: { phase: 'episodes', done, total: 100, unit: 'episodes' } } as Job, now);
    return String(stream.read() ?? '');
  };
  const first = at(0, 0);
  expect(first).toContain('0/100 episodes');
  expect(first).not.toMatch(/INF|NULL|left/u);
  at(20, 10_000);
  view.stop();
  view.update({ progress: { phase: 'episodes', done: 40, total: 100, unit: 'episodes' } } as Job, 20_000);
  expect(String(stream.read())).toMatch(/40\/100 episodes {2}2\.00\/s {2}\S* ?30 s left/u);
  view.stop();
});

it('names the stage of a pipeline by its number', () => {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 200 });
  const view = new ProgressView({ stream: stream as unknown as NodeJS.WriteStream });
  view.update(
    { state: 'running', progress: { phase: 'Demonstrations', done: 0, total: 4, unit: 'stages' } },
    0,
  );
  expect(String(stream.read())).toContain('Demonstrations  stage 1 of 4');
  view.update({ state: 'running', progress: { phase: 'Done', done: 4, total: 4, unit: 'stages' } }, 1);
  view.stop();
});
