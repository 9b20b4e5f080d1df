/**
 * The rules that every environment obeys, checked on a sample of each split. The same suite runs in the tests over all providers and
 * behind `daydream environments check`. A rule that breaks is a result with its first counter-example, never an exception.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toAppError } from '#shared/errors.ts';
import { environmentDescriptionSchema } from '#shared/schema/environment.ts';
import type { ConformanceResult, Split, Task } from '#shared/schema/environment.ts';
import {
  branchesAreIsolated,
  branchEqualsReplay,
  closesTwice,
  desyncIsDetected,
  doNothingScores,
  expertSucceeds,
  invalidActionCostsAStep,
  memoryStaysFlat,
  randomScores,
  sameSeedSameObservations,
} from './conformance-rules.ts';
import type { RuleCheck } from './conformance-rules.ts';
import type { EnvironmentProvider } from './port.ts';

type Rule = ConformanceResult['rules'][number];

/** Checked on every sampled task. */
const perTask: readonly RuleCheck[] = [
  sameSeedSameObservations,
  expertSucceeds,
  doNothingScores,
  randomScores,
  invalidActionCostsAStep,
  branchEqualsReplay,
  branchesAreIsolated,
  desyncIsDetected,
  closesTwice,
];

export async function checkConformance(
  provider: EnvironmentProvider,
  options: { tasksPerSplit: number; now: () => number; signal?: AbortSignal },
): Promise<ConformanceResult> {
  const { tasksPerSplit, now, signal } = options;
  const description = provider.describe();
  const sample = description.splits.flatMap(({ split }) => sampleOf(provider, split, tasksPerSplit));
  const rules: Rule[] = [describesItself(provider), splitsShareNoTask(provider)];
  for (const check of perTask) {
    signal?.throwIfAborted();
    rules.push(await overTasks(provider, check, sample, signal));
  }
  rules.push(await startsDiffer(provider, sample, signal));
  rules.push(
    await memoryStaysFlat(provider, sample, {
      episodes: 1000,
      budgetMs: 10_000,
      now,
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return { environmentId: description.id, at: now(), rules };
}

/** Evenly spread over the split's list. */
function sampleOf(provider: EnvironmentProvider, split: Split, count: number): Task[] {
  const { tasks } = provider.listTasks({ split });
  if (tasks.length <= count) return tasks;
  return Array.from(
    { length: count },
    (_, index) => tasks[Math.floor((index * tasks.length) / count)],
  ).filter((task) => task !== undefined);
}

async function overTasks(
  provider: EnvironmentProvider,
  check: RuleCheck,
  sample: readonly Task[],
  signal: AbortSignal | undefined,
): Promise<Rule> {
  let checked = 0;
  const faults: string[] = [];
  const measures: number[] = [];
  for (const task of sample) {
    signal?.throwIfAborted();
    try {
      const { fault, measure, units } = await check.run(provider, task);
      checked += units;
      if (measure !== undefined) measures.push(measure);
      if (fault !== null) faults.push(`${task.taskId}: ${fault}`);
    } catch (error) {
      faults.push(`${task.taskId}: it threw ${toAppError(error).message}`);
    }
    await nextTurn();
  }
  const mean =
    measures.length === 0 ? null : measures.reduce((sum, value) => sum + value, 0) / measures.length;
  const verdict = check.judge?.(mean) ?? null;
  const detail = [
    ...(mean === null || check.describe === undefined ? [] : [check.describe(mean)]),
    ...(verdict === null ? [] : [verdict]),
    ...(faults.length === 0
      ? []
      : [`${String(faults.length)} of ${String(sample.length)} tasks break it; ${faults[0] ?? ''}`]),
  ].join('; ');
  return {
    rule: check.rule,
    passed: faults.length === 0 && verdict === null,
    checked,
    unit: check.unit,
    detail,
  };
}

function describesItself(provider: EnvironmentProvider): Rule {
  const faults: string[] = [];
  const description = provider.describe();
  const parsed = environmentDescriptionSchema.safeParse(description);
  if (!parsed.success) faults.push(`the description does not fit its schema: ${parsed.error.message}`);
  if (JSON.stringify(provider.describe()) !== JSON.stringify(description))
    faults.push('describe() changes between calls');
  let checked = 0;
  for (const { split, tasks } of description.splits) {
    const listed = provider.listTasks({ split });
    checked += listed.tasks.length;
    if (listed.total !== tasks || listed.tasks.length !== tasks) {
      faults.push(`${split} announces ${String(tasks)} tasks and lists ${String(listed.total)}`);
    }
    for (const task of listed.tasks) {
      if (task.split !== split) faults.push(`${task.taskId} is listed in ${split} and says ${task.split}`);
      if (
        provider.getTask(task.taskId) !== task &&
        JSON.stringify(provider.getTask(task.taskId)) !== JSON.stringify(task)
      ) {
        faults.push(`getTask(${task.taskId}) differs from the list`);
      }
      if (!description.taskTypes.includes(task.type))
        faults.push(`${task.taskId} has the unannounced type ${task.type}`);
    }
  }
  return {
    rule: 'it describes itself as it is',
    passed: faults.length === 0,
    checked,
    unit: 'tasks',
    detail: faults[0] ?? '',
  };
}

function splitsShareNoTask(provider: EnvironmentProvider): Rule {
  const { tasks } = provider.listTasks({});
  const ids = new Set(tasks.map((task) => task.taskId));
  const splits = provider.describe().splits.filter((entry) => entry.tasks > 0).length;
  return {
    rule: 'no task is in two splits',
    passed: ids.size === tasks.length,
    checked: tasks.length,
    unit: 'tasks',
    detail:
      ids.size === tasks.length
        ? `${String(splits)} splits`
        : `${String(tasks.length - ids.size)} ids occur twice`,
  };
}

/** Two tasks that look the same at the start and are in different splits would leak. */
async function startsDiffer(
  provider: EnvironmentProvider,
  sample: readonly Task[],
  signal: AbortSignal | undefined,
): Promise<Rule> {
  const seen = new Map<string, Task>();
  let fault: string | null = null;
  for (const task of sample) {
    signal?.throwIfAborted();
    const session = await provider.open({ taskId: task.taskId, seed: 1 });
    const { text } = await session.reset();
    await session.close();
    const twin = seen.get(text);
    if (twin !== undefined && twin.split !== task.split) {
      fault ??= `${task.taskId} (${task.split}) starts like ${twin.taskId} (${twin.split})`;
    }
    seen.set(text, task);
    await nextTurn();
  }
  return {
    rule: 'splits share no first observation',
    passed: fault === null,
    checked: sample.length,
    unit: 'tasks',
    detail: fault ?? '',
  };
}
