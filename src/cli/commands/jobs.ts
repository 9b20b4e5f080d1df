import type { Command } from 'commander';
import { pageInput } from '#shared/contract/base.ts';
import type { JobId } from '#shared/ids.ts';
import type { Job, JobState } from '#shared/schema/job.ts';
import { AppError } from '#shared/errors.ts';
import { isEnded, jobStateSchema, pausingWords } from '#shared/schema/job.ts';
import type { Work } from '../command.ts';
import { globalOptions, lookInto, withSession } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { followJob, reportEnd } from '../follow.ts';
import { duration, number, printResult, say, table, when } from '../output.ts';
import { numberIn } from '../parse.ts';
import { findJobId } from '../short-id.ts';
import { resultText } from '../result-text.ts';
import { sayResult } from '../start-run.ts';
import { Option } from 'commander';

const idHelp = 'id, or its first characters';

function progressWords({ progress }: Pick<Job, 'progress'>): string {
  if (progress === null) return '';
  const total = progress.total === null ? '' : `/${number(progress.total)}`;
  return `${progress.phase} ${number(progress.done)}${total} ${progress.unit}`;
}

type ShownState = JobState | 'interrupted';
type ShownJob = Omit<Job, 'state'> & { state: ShownState };

const heldStates: ReadonlySet<JobState> = new Set(['running', 'pausing', 'cancelling']);

/**
 * Without a host nothing runs: what the store still calls running was cut off, and goes on with `jobs resume`. Only said, not
 * stored: the next host that runs jobs recovers it and counts the crash.
 */
function asSeen(job: Job, hosted: boolean): ShownJob {
  return !hosted && heldStates.has(job.state) ? { ...job, state: 'interrupted' } : job;
}

/** Newest first. `interrupted` is no state of the store: it is each held state without a host. */
async function listJobs(
  { client, session }: Work,
  state: ShownState | undefined,
  limit: number,
): Promise<ShownJob[]> {
  const page = async (filter: { state?: JobState }): Promise<Job[]> =>
    (await client.jobs.list({ filter: { parentId: null, ...filter }, limit })).items;
  let found: Job[];
  if (state !== 'interrupted') found = await page(state === undefined ? {} : { state });
  else if (session.attached) found = [];
  else found = (await Promise.all([...heldStates].map((held) => page({ state: held })))).flat();
  return found
    .toSorted((left, right) => right.createdAt - left.createdAt)
    .slice(0, limit)
    .map((job) => asSeen(job, session.attached));
}

function stateWords({ state, attempt }: ShownJob): string {
  return attempt > 1 ? `${state} (attempt ${String(attempt)})` : state;
}

/** The store notes active time at least every five seconds; a host that was killed before the first note leaves none. */
function activeWords(job: ShownJob, now: number): string | null {
  if (job.startedAt === null) return null;
  const runsNow = job.state !== 'interrupted' && job.activeAt !== null;
  const ms = job.activeMs + (runsNow ? Math.max(0, now - (job.activeAt ?? now)) : 0);
  return ms === 0 ? '< 5 s' : duration(ms);
}

function jobTable(jobs: readonly ShownJob[]): string {
  return table(
    jobs,
    [
      { title: 'id', value: (job) => job.jobId },
      { title: 'state', value: stateWords },
      { title: 'kind', value: (job) => job.kind },
      { title: 'title', value: (job) => job.title },
      { title: 'progress', value: progressWords },
      { title: 'active', value: (job) => activeWords(job, Date.now()) },
      { title: 'created', value: (job) => when(job.createdAt) },
    ],
    'No jobs yet. Start one: daydream quickstart',
  );
}

function showText(
  job: ShownJob,
  children: readonly ShownJob[],
  events: readonly { at: number; level: string; type: string; message: string }[],
  result: string | null,
): string {
  const lines = [jobTable([job, ...children])];
  if (job.error !== null) lines.push('', `${job.error.code}: ${job.error.message}`);
  if (result !== null) lines.push('', result);
  if (events.length > 0) lines.push('', 'last events:');
  for (const event of events.toReversed()) {
    lines.push(
      `  ${when(event.at) ?? ''}  ${event.level === 'info' ? '' : `${event.level.toUpperCase()} `}${event.type}: ${event.message}`,
    );
  }
  return lines.join('\n');
}

/** One line of JSON an update, for scripts that watch. */
async function watch(work: Work, id: JobId): Promise<number> {
  const job = await followJob(work, id, {
    onInterrupt: 'detach',
    quiet: work.json,
    onUpdate: (update, view) => {
      if (work.json) process.stdout.write(`${JSON.stringify(update)}\n`);
      else
        for (const event of update.events)
          if (event.level !== 'info') view.say(`${event.type}: ${event.message}`);
    },
  });
  return work.signal.aborted ? exitCodes.cancelled : reportEnd(job);
}

/** Attached: the host goes on with it. Alone: this process becomes the host and runs it to its end. */
async function resume(work: Work, id: JobId): Promise<number> {
  const job = await work.client.jobs.resume({ jobId: id });
  if (!work.session.attached) {
    const ended = await followJob(work, id, { onInterrupt: 'pause', quiet: work.json });
    return sayResult(work, ended);
  }
  printResult(work.json, job, () => `${job.title}: ${job.state}.`);
  return exitCodes.ok;
}

/** While it pauses: what for. */
function pauseWords({ state, progress }: Job): string {
  return state === 'pausing' ? `pausing, ${pausingWords(progress)}` : state;
}

/** What asking twice finds: nothing wrong with that. */
const doneAlready: Record<'pause' | 'cancel', JobState> = { pause: 'paused', cancel: 'cancelled' };

function alreadyEnded({ jobId, title, state, finishedAt }: Job, verb: 'pause' | 'cancel'): AppError {
  const at = finishedAt === null ? '' : ` at ${when(finishedAt) ?? ''}`;
  return new AppError({
    code: 'CONFLICT',
    message: `${title} had already ended${at}: ${state}. There was nothing to ${verb}; what it stored is kept.`,
    data: { jobId, state },
  });
}

export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .description('what runs, what ran, what can go on')
    .addHelpText(
      'after',
      `
Examples:
  daydream jobs
  daydream jobs watch 0193f2…        Ctrl-C stops watching; the job goes on
  daydream jobs pause 0193f2…        says what it waits for; resume takes it back
  daydream jobs resume 0193f2…       here when no host runs, else in the host
`,
    );
  jobs
    .command('list', { isDefault: true })
    .description('newest first; stages are listed with `show`')
    .addOption(
      new Option('--state <state>', 'only these').choices([...jobStateSchema.options, 'interrupted']),
    )
    .option('--limit <n>', 'rows', numberIn(pageInput.shape.limit), 50)
    .action(({ state, limit }: { state?: ShownState; limit: number }, command: Command) =>
      lookInto(command, async (work) => {
        const items = await listJobs(work, state, limit);
        printResult(work.json, items, () => jobTable(items));
        return exitCodes.ok;
      }),
    );
  jobs
    .command('show')
    .description('state, stages, result and the last events of one job')
    .argument('<job>', idHelp)
    .action((typed: string, _options: unknown, command: Command) =>
      lookInto(command, async ({ client, json, session }) => {
        const id = await findJobId(client, typed);
        const { job, children } = await client.jobs.get({ jobId: id });
        const events = (await client.jobs.events({ jobId: id, limit: 20 })).items;
        const result = json ? null : await resultText(client, job);
        const seen = {
          job: asSeen(job, session.attached),
          children: children.map((child) => asSeen(child, session.attached)),
          events,
        };
        printResult(json, seen, () => showText(seen.job, seen.children, events, result));
        return exitCodes.ok;
      }),
    );
  for (const verb of ['pause', 'cancel'] as const) {
    jobs
      .command(verb)
      .description(
        verb === 'pause'
          ? 'start nothing new, finish what is in flight'
          : 'stop at once; finished work is kept',
      )
      .argument('<job>', idHelp)
      .action((typed: string, _options: unknown, command: Command) =>
        lookInto(command, async ({ client, json }) => {
          const job = await client.jobs[verb]({ jobId: await findJobId(client, typed) });
          if (isEnded(job.state) && job.state !== doneAlready[verb]) throw alreadyEnded(job, verb);
          printResult(json, job, () => `${job.title}: ${pauseWords(job)}.`);
          return exitCodes.ok;
        }),
      );
  }
  jobs
    .command('resume')
    .description('go on with a paused job')
    .argument('<job>', idHelp)
    .action((typed: string, _options: unknown, command: Command) =>
      withSession(command, async (work) => resume(work, await findJobId(work.client, typed)), {
        runsJobs: true,
      }),
    );
  jobs
    .command('watch')
    .description('follow one job; with --json one line an update')
    .argument('<job>', idHelp)
    .action((typed: string, _options: unknown, command: Command) =>
      lookInto(command, async (work) => {
        if (!work.session.attached && !globalOptions(command).json) {
          say(
            'No host runs on this data folder, so nothing moves. `daydream jobs resume` or `daydream serve` goes on with it.',
          );
        }
        return watch(work, await findJobId(work.client, typed));
      }),
    );
}
