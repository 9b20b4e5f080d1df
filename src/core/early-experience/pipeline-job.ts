/**
 * Job kind `early-experience`: demonstrations → branches → reflections → data sets. A parent of four jobs, each useful alone, each
 * resumed where it stopped.
 */
import { datasetIdSchema } from '#shared/ids.ts';
import type { Job } from '#shared/schema/job.ts';
import type { EarlyExperienceRun } from '#shared/schema/run.ts';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import type { JobContext, JobDefinition } from '#core/jobs/port.ts';
import { defineJob } from '#core/jobs/port.ts';
import type { CoreServices } from '#core/services.ts';
import { identityHash } from '#core/agents/index.ts';
import { createBranchingJob } from '#core/early-experience/branching-job.ts';
import { createDemonstrationsJob } from '#core/early-experience/demonstrations-job.ts';
import { demonstrationsResultSchema } from '#core/early-experience/demonstrations-of.ts';
import { datasetName, exportRun } from '#core/early-experience/export.ts';
import { writesReflections } from '#core/early-experience/profile.ts';
import { createReflectionJob } from '#core/early-experience/reflection-job.ts';
import type { ExportSpec } from '#core/early-experience/spec.ts';
import { exportSpecSchema } from '#core/early-experience/spec.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- kinds with different specs, as the engine's register takes them
export function createEarlyExperienceJobs(services: CoreServices): JobDefinition<any, any>[] {
  return [
    createPipelineJob(),
    createDemonstrationsJob(services),
    createBranchingJob(services),
    createReflectionJob(services),
    createExportJob(services),
  ];
}

function createPipelineJob(): JobDefinition<EarlyExperienceRun> {
  return defineJob<EarlyExperienceRun>({
    kind: 'early-experience',
    spec: earlyExperienceRunSchema,
    slots: [],
    run: pipeline,
  });
}

async function pipeline(context: JobContext<EarlyExperienceRun>) {
  const { spec: run } = context;
  const branches = run.branching.iwm.enabled || run.branching.sr.enabled;
  const reflects = writesReflections(run);
  const total = 2 + (branches ? 1 : 0) + (reflects ? 1 : 0);
  let done = 0;
  const stage = async (name: string, title: string, spec: Job['spec']) => {
    context.pausePoint();
    context.progress({ done, total, unit: 'stages', phase: title });
    const child = await context.runChild({ stage: name, kind: name, title, spec });
    done += 1;
    return child;
  };
  const demonstrations = await stage('demonstrations', 'Demonstrations', { run });
  const demonstrationsJobId = demonstrations.job.jobId;
  const branching = branches ? await stage('branching', 'Branches', { run, demonstrationsJobId }) : null;
  const branchingJobId = branching?.job.jobId ?? null;
  const reflection =
    reflects && branchingJobId !== null
      ? await stage('reflection', 'Reflections', { run, demonstrationsJobId, branchingJobId })
      : null;
  const exported = await stage('export', 'Data sets', {
    run,
    demonstrationsJobId,
    branchingJobId,
    reflectionJobId: reflection?.job.jobId ?? null,
    pipelineJobId: context.jobId,
    name: datasetName(run.name, `Early Experience, ${run.environment.id}`),
  });
  context.progress({ done, total, unit: 'stages', phase: 'Done' });
  return {
    demonstrations: summaryOf(demonstrations.result),
    branching: branching?.result ?? null,
    reflection: reflection?.result ?? null,
    export: exported.result,
  };
}

/** The list of episodes stays with the stage; the pipeline's result is for reading. */
function summaryOf(result: Job['result']) {
  const { demonstrations, steps, rejected, refusals } = demonstrationsResultSchema.parse(result);
  return { demonstrations, steps, rejected, refusals };
}

function createExportJob(services: CoreServices): JobDefinition<ExportSpec> {
  return defineJob<ExportSpec>({
    kind: 'export',
    spec: exportSpecSchema,
    slots: ['light'],
    async run(context) {
      const dataset = await exportRun(context.spec, services, {
        signal: context.signal,
        datasetId: datasetIdSchema.parse(identityHash('dataset', context.jobId)),
        onProgress: (done, total) => {
          context.progress({ done, total, unit: 'demonstrations', phase: 'Writing' });
        },
      });
      const { files, filters, branches } = dataset.manifest;
      for (const { part, filter, dropped } of filters) {
        if (filter !== 'overlong' || part === null) continue;
        const of = files.find((file) => file.part === part)?.candidates ?? dropped;
        context.emit({
          type: 'rows-left-out',
          level: 'warn',
          message: `${String(dropped)} of ${String(of)} rows of ${part} are longer than limits.maxPromptTokens and policy.maxTokens hold; they were left out whole. A higher limit keeps them.`,
          data: { part, dropped },
        });
      }
      for (const { part, rows, repeated } of files) {
        if (repeated === null || repeated === 0) continue;
        context.emit({
          type: 'rows-repeated',
          message: `${String(repeated)} of ${String(rows)} rows of ${part} repeat an earlier one word for word. They are kept and weigh as often as they occur.`,
          data: { part, repeated },
        });
      }
      return { datasetId: dataset.datasetId, folder: dataset.folder, files, filters, branches };
    },
  });
}
