/** Where the weights of a training come from: the adapters before it, back to the one that began at the base. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { JobId } from '#shared/ids.ts';
import { jobIdSchema } from '#shared/ids.ts';
import type { Job } from '#shared/schema/job.ts';
import { trainRunSchema } from '#shared/schema/training.ts';
import type { LineageStep, TrainRun } from '#shared/schema/training.ts';
import type { JobStore } from '#core/store/port.ts';

const resultSchema = z.object({ file: z.string() });

/** A training leaves all its files in a folder of its own, named after it: equal trainings write equal bytes. */
export function trainingFolder(dataFolder: string, jobId: string): string {
  return path.join(dataFolder, 'training', jobId);
}

/** Oldest first. The line ends at an adapter that no training of this data folder wrote. */
export function lineageOf(jobId: JobId, jobs: Pick<JobStore, 'get'>): LineageStep[] {
  const steps: LineageStep[] = [];
  const seen = new Set<string>([jobId]);
  let run = runOf(jobs.get(jobId));
  while (run !== null && run.adapter !== null) {
    const file = run.adapter.path;
    const job = writerOf(file, jobs);
    const before = job === null || seen.has(job.jobId) ? null : runOf(job);
    steps.push({
      file,
      exists: existsSync(file),
      training:
        job === null || before === null
          ? null
          : { jobId: job.jobId, title: job.title, recipe: before.recipe, dataset: before.dataset },
    });
    if (job !== null) seen.add(job.jobId);
    run = before;
  }
  return steps.toReversed();
}

function runOf(job: Job | null): TrainRun | null {
  return trainRunSchema.safeParse(job?.spec).data ?? null;
}

/** The training that wrote the file: its folder names it, and it says so itself. */
function writerOf(file: string, jobs: Pick<JobStore, 'get'>): Job | null {
  const job = jobs.get(jobIdSchema.parse(path.basename(path.dirname(file)) || '-'));
  return resultSchema.safeParse(job?.result).data?.file === file ? job : null;
}
