/** What has been filled into the form, as plain data; an absent key means the schema's default. Pure. */
import { issueWords, valueAt } from '#shared/issue-words.ts';
import type { RunProblem } from '#shared/schema/run.ts';
import type { TrainRun } from '#shared/schema/training.ts';
import { loraAlpha, trainRunSchema, trainingModeSettingsSchema } from '#shared/schema/training.ts';

export type Draft = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function valueIn(draft: Draft, path: readonly string[]): unknown {
  let value: unknown = draft;
  for (const key of path) value = isRecord(value) ? value[key] : undefined;
  return value;
}

/** What an absent key means where other fields decide it. */
export function impliedIn(draft: Draft, path: readonly string[]): string | undefined {
  if (path.join('.') !== 'weights.alpha') return undefined;
  const weights = trainingModeSettingsSchema.safeParse({ rank: valueIn(draft, ['weights', 'rank']) }).data;
  return weights === undefined ? undefined : String(loraAlpha(weights));
}

/** A copy with one value changed. `undefined` takes the key away, and a group that is left empty with it. */
export function withValueIn(draft: Draft, [key, ...rest]: readonly string[], value: unknown): Draft {
  if (key === undefined) return draft;
  const { [key]: old, ...others } = draft;
  if (rest.length === 0) return value === undefined ? others : { ...draft, [key]: value };
  const inner = withValueIn(isRecord(old) ? old : {}, rest, value);
  return Object.keys(inner).length === 0 ? others : { ...draft, [key]: inner };
}

/** What `text` names: the id of a stored data set, or a folder. */
export function datasetOf(text: string, knownIds: readonly string[]): unknown {
  if (text === '') return undefined;
  return knownIds.includes(text) ? { datasetId: text } : { folder: text };
}

/** Of a training that was already run: what differs from the defaults is what was filled in. */
export function draftOf(spec: unknown): Draft {
  const run = trainRunSchema.safeParse(spec);
  if (!run.success) return {};
  const { dataset, base, ...rest } = run.data;
  const plain: TrainRun = trainRunSchema.parse({ dataset, base });
  const changed = (value: unknown, fallback: unknown): unknown => {
    if (!isRecord(value) || !isRecord(fallback))
      return JSON.stringify(value) === JSON.stringify(fallback) ? undefined : value;
    const entries = Object.entries(value)
      .map(([key, inner]) => [key, changed(inner, fallback[key])] as const)
      .filter(([, inner]) => inner !== undefined);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const own = changed(rest, plain);
  return { dataset, base, ...(isRecord(own) ? own : {}) };
}

/** The run, or what is wrong with it by field. Fields that must be filled in are named in words. */
export function checkDraft(draft: Draft): { run: TrainRun | null; problems: RunProblem[] } {
  const missing: Record<string, string> = {
    dataset: 'Choose a data set, or type the path of a folder.',
    base: 'Choose a model, or type the path of a GGUF file.',
  };
  const parsed = trainRunSchema.safeParse(draft);
  if (parsed.success) return { run: parsed.data, problems: [] };
  const problems = parsed.error.issues.map((issue): RunProblem => {
    const path = issue.path.join('.');
    const absent = valueIn(draft, issue.path.map(String)) === undefined ? missing[path] : undefined;
    return {
      path,
      message:
        absent ??
        issueWords(
          issue,
          valueAt(
            draft,
            issue.path.filter((part) => typeof part !== 'symbol'),
          ),
        ),
      severity: 'error',
      line: null,
    };
  });
  return { run: null, problems };
}
