/**
 * The trajectory list as SQL: filters, the four orders, keyset paging, neighbours. Only table `episodes` (no large texts) is
 * touched; each filter has an index that ends with the newest-first order.
 */
import type { SqlValue } from '#core/store/driver.ts';
import { bit } from '#core/store/columns.ts';
import type { EpisodeFilter } from '#shared/schema/episode.ts';

export type EpisodeSort = 'newest' | 'oldest' | 'reward' | 'steps';

interface Query {
  sql: string;
  parameters: SqlValue[];
}

const orders: Record<EpisodeSort, { column: string; direction: 'ASC' | 'DESC' }> = {
  newest: { column: 'started_at', direction: 'DESC' },
  oldest: { column: 'started_at', direction: 'ASC' },
  reward: { column: 'total_reward', direction: 'DESC' },
  steps: { column: 'steps', direction: 'DESC' },
};

const storedOf = 'FROM steps WHERE steps.episode_key = episodes.episode_key';
/** What is stored of one row of `episodes`, counted from its steps. */
export const storedSteps = `(SELECT count(*) ${storedOf})`;
export const storedInvalid = `(SELECT count(*) ${storedOf} AND valid = 0)`;
export const storedReward = `(SELECT ifnull(sum(reward), 0.0) ${storedOf})`;

/** What a running episode has stored so far; its own totals come with its end. Not named `steps`: lists are ordered by that column's index. */
export const runningTotals = `
  CASE status WHEN 'running' THEN ${storedSteps} END AS running_steps,
  CASE status WHEN 'running' THEN ${storedInvalid} END AS running_invalid`;

export const episodeRowColumns = `episode_key, episode_id, job_id, purpose, environment_id, environment_version, data_checksum,
  task_id, task_type, split, policy_key, policy_label, seed, rollout_index, status, end_reason, success, total_reward, steps,
  invalid_actions, parse_failures, prompt_tokens, evaluated_prompt_tokens, completion_tokens, model_ms, environment_ms, retries,
  attempt, replaced_by, error, started_at, finished_at, ${runningTotals},
  (SELECT text FROM instructions WHERE instructions.instruction_key = episodes.instruction_key) AS instruction`;

export function episodeSortColumn(sort: EpisodeSort): string {
  return orders[sort].column;
}

/** Conditions joined by AND; `TRUE` for an empty filter. */
export function episodeConditions(filter: EpisodeFilter): Query {
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  function add(condition: string, ...values: SqlValue[]): void {
    conditions.push(condition);
    parameters.push(...values);
  }
  if (filter.environmentId !== undefined) add('environment_id = ?', filter.environmentId);
  if (filter.split !== undefined) add('split = ?', filter.split);
  if (filter.taskType !== undefined) add('task_type = ?', filter.taskType);
  if (filter.purpose !== undefined) add('purpose = ?', filter.purpose);
  if (filter.status !== undefined) add('status = ?', filter.status);
  // What broke off is neither a success nor a failure.
  if (filter.success !== undefined) add("success = ? AND status = 'finished'", bit(filter.success));
  if (filter.jobId !== undefined) add('job_id = ?', filter.jobId);
  if (filter.policyKey !== undefined) add('policy_key = ?', filter.policyKey);
  if (filter.taskId !== undefined) add('task_id = ?', filter.taskId);
  if (filter.errorCode !== undefined) add('error_code = ?', filter.errorCode);
  // Literals, so that SQLite can prove that the partial index applies.
  if (filter.hasInvalid !== undefined) add(filter.hasInvalid ? 'invalid_actions > 0' : 'invalid_actions = 0');
  if (filter.minimumSteps !== undefined) add('steps >= ?', filter.minimumSteps);
  if (filter.maximumSteps !== undefined) add('steps <= ?', filter.maximumSteps);
  const text = filter.text?.trim() ?? '';
  if (text !== '') {
    // The trigram index answers from three letters on; shorter texts scan the distinct instructions, which are few.
    if (Array.from(text).length >= 3) {
      add(
        'instruction_key IN (SELECT rowid FROM instructions_search WHERE text MATCH ?)',
        `"${text.replaceAll('"', '""')}"`,
      );
    } else {
      add(
        'instruction_key IN (SELECT instruction_key FROM instructions WHERE instr(lower(text), lower(?)) > 0)',
        text,
      );
    }
  }
  return { sql: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '), parameters };
}

/** `after`: [order value, episode key] of the row before the page. `reversed` reads towards the start of the list. */
export function episodeListQuery(options: {
  columns: string;
  filter: EpisodeFilter;
  sort: EpisodeSort;
  after: readonly number[] | null;
  reversed?: boolean;
  limit: number;
}): Query {
  const { column, direction } = orders[options.sort];
  const descending = (direction === 'DESC') !== (options.reversed === true);
  const conditions = episodeConditions(options.filter);
  const keyset =
    options.after === null ? '' : ` AND (${column}, episode_key) ${descending ? '<' : '>'} (?, ?)`;
  const order = descending ? 'DESC' : 'ASC';
  return {
    sql: `SELECT ${options.columns} FROM episodes WHERE ${conditions.sql}${keyset} ORDER BY ${column} ${order}, episode_key ${order} LIMIT ?`,
    parameters: [...conditions.parameters, ...(options.after ?? []), options.limit],
  };
}

export function episodeCountQuery(filter: EpisodeFilter): Query {
  const conditions = episodeConditions(filter);
  return {
    sql: `SELECT count(*) AS total FROM episodes WHERE ${conditions.sql}`,
    parameters: conditions.parameters,
  };
}

/** Far more than a menu can show; ends the search in a damaged index that leads back to itself. */
const mostValues = 10_000;

/** Distinct values of an indexed column by jumping from value to value: as many look-ups as values, not as rows. */
export function distinctQuery(column: string, notNull = ''): string {
  return `WITH RECURSIVE found (value) AS (
    SELECT (SELECT min(${column}) FROM episodes${notNull === '' ? '' : ` WHERE ${notNull}`})
    UNION ALL
    SELECT (SELECT min(${column}) FROM episodes WHERE ${column} > found.value) FROM found WHERE found.value IS NOT NULL
    LIMIT ${mostValues}
  ) SELECT value FROM found WHERE value IS NOT NULL`;
}
