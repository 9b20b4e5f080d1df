/** Episodes and their steps: start or restart, append, finish, the trajectory list. No stored step is ever removed. */
import { createHash } from 'node:crypto';
import type { Connection, SqlRow } from '#core/store/driver.ts';
import type { TextColumns } from '#core/store/blobs.ts';
import {
  bit,
  decodeJson,
  encodeJson,
  flag,
  hashFromBytes,
  hashToBytes,
  numberOf,
  parseRow,
} from '#core/store/columns.ts';
import { noteRestart } from '#core/store/garbage.ts';
import { realStepsPrefix } from '#core/store/meters.ts';
import type { Meters } from '#core/store/meters.ts';
import type { EpisodeStore } from '#core/store/port.ts';
import { decodeCursor, encodeCursor, pageFrom } from '#core/store/queries/cursor.ts';
import {
  distinctQuery,
  episodeCountQuery,
  episodeListQuery,
  episodeRowColumns,
  episodeSortColumn,
  runningTotals,
  storedInvalid,
  storedReward,
  storedSteps,
} from '#core/store/queries/episode-list.ts';
import { createStepTable } from '#core/store/steps.ts';
import { idsStartingWith } from '#core/store/queries/id-prefix.ts';
import { AppError } from '#shared/errors.ts';
import type { EpisodeId } from '#shared/ids.ts';
import { episodeRowSchema, episodeSchema } from '#shared/schema/episode.ts';
import type { Episode, EpisodeRow, Step } from '#shared/schema/episode.ts';

/** `started_at` is renewed by a restart; the number of the attempt is the store's, whatever the caller's episode says. */
const upsertSql = `INSERT INTO episodes (episode_id, job_id, purpose, environment_id, environment_version, data_checksum, task_id,
    task_type, split, instruction_key, policy_key, policy_label, seed, rollout_index, status, end_reason, success, total_reward,
    steps, invalid_actions, parse_failures, prompt_tokens, evaluated_prompt_tokens, completion_tokens, model_ms, environment_ms,
    retries, attempt, error_code, error, started_at, finished_at)
  VALUES (@episodeId, @jobId, @purpose, @environmentId, @environmentVersion, @dataChecksum, @taskId, @taskType, @split,
    @instructionKey, @policyKey, @policyLabel, @seed, @rolloutIndex, @status, @endReason, @success, @totalReward, @steps,
    @invalidActions, @parseFailures, @promptTokens, @evaluatedPromptTokens, @completionTokens, @modelMs, @environmentMs,
    @retries, @attempt, @errorCode, @error, @startedAt, @finishedAt)
  ON CONFLICT (episode_id) DO UPDATE SET job_id = excluded.job_id, purpose = excluded.purpose,
    environment_id = excluded.environment_id, environment_version = excluded.environment_version,
    data_checksum = excluded.data_checksum, task_id = excluded.task_id, task_type = excluded.task_type, split = excluded.split,
    instruction_key = excluded.instruction_key, policy_key = excluded.policy_key, policy_label = excluded.policy_label,
    seed = excluded.seed, rollout_index = excluded.rollout_index, status = excluded.status, end_reason = excluded.end_reason,
    success = excluded.success, total_reward = excluded.total_reward, steps = excluded.steps,
    invalid_actions = excluded.invalid_actions, parse_failures = excluded.parse_failures,
    prompt_tokens = excluded.prompt_tokens, evaluated_prompt_tokens = excluded.evaluated_prompt_tokens,
    completion_tokens = excluded.completion_tokens, model_ms = excluded.model_ms, environment_ms = excluded.environment_ms,
    retries = excluded.retries, error_code = excluded.error_code, error = excluded.error, started_at = excluded.started_at,
    finished_at = excluded.finished_at`;

/** What is stored of an attempt that broke off, counted from its steps: its own totals were still in the dead host's memory. */
const storedTotals = `steps = ${storedSteps}, total_reward = ${storedReward}, invalid_actions = ${storedInvalid}`;

interface Found {
  key: number;
  status: string;
  attempt: number;
}

/** Of an attempt that another one replaced; as long as the ids of the loop, and the same wherever it is made. */
function attemptId(episodeId: EpisodeId, attempt: number): string {
  return createHash('sha256')
    .update(JSON.stringify(['attempt', episodeId, attempt]))
    .digest('hex')
    .slice(0, 24);
}

export function createEpisodeStore(connection: Connection, texts: TextColumns, meters: Meters): EpisodeStore {
  const steps = createStepTable(connection, texts);
  const where = { table: 'episodes', file: connection.file };

  function find(episodeId: EpisodeId): Found | null {
    const row = connection.get('SELECT episode_key, status, attempt FROM episodes WHERE episode_id = ?', [
      episodeId,
    ]);
    if (row === undefined) return null;
    return {
      key: numberOf(row, 'episode_key'),
      status: String(row['status']),
      attempt: numberOf(row, 'attempt'),
    };
  }

  function requireEpisode(episodeId: EpisodeId): Found {
    const found = find(episodeId);
    if (found !== null) return found;
    throw new AppError({
      code: 'NOT_FOUND',
      message: `No episode ${episodeId} is stored.`,
      data: { episodeId },
    });
  }

  function instructionKey(text: string): number {
    const sql = 'SELECT instruction_key FROM instructions WHERE text = ?';
    const found = connection.get(sql, [text]);
    if (found !== undefined) return numberOf(found, 'instruction_key');
    connection.run('INSERT INTO instructions (text) VALUES (?)', [text]);
    return numberOf(connection.get(sql, [text]), 'instruction_key');
  }

  function upsert(episode: Episode): number {
    connection.run(upsertSql, {
      episodeId: episode.episodeId,
      jobId: episode.jobId,
      purpose: episode.purpose,
      environmentId: episode.environmentId,
      environmentVersion: episode.environmentVersion,
      dataChecksum: hashToBytes(episode.dataChecksum),
      taskId: episode.taskId,
      taskType: episode.taskType,
      split: episode.split,
      instructionKey: instructionKey(episode.instruction),
      policyKey: episode.policyKey,
      policyLabel: episode.policyLabel,
      seed: episode.seed,
      rolloutIndex: episode.rolloutIndex,
      status: episode.status,
      endReason: episode.endReason,
      success: bit(episode.success),
      totalReward: episode.totalReward,
      steps: episode.steps,
      invalidActions: episode.invalidActions,
      parseFailures: episode.parseFailures,
      promptTokens: episode.promptTokens,
      evaluatedPromptTokens: episode.evaluatedPromptTokens,
      completionTokens: episode.completionTokens,
      modelMs: episode.modelMs,
      environmentMs: episode.environmentMs,
      retries: episode.retries,
      attempt: episode.attempt,
      errorCode: episode.error?.code ?? null,
      error: encodeJson(episode.error, 'nullable'),
      startedAt: episode.startedAt,
      finishedAt: episode.finishedAt,
    });
    const { key } = requireEpisode(episode.episodeId);
    connection.run(
      `INSERT INTO episode_details (episode_key, initial_observation, initial_admissible, policy) VALUES (?, ?, ?, ?)
       ON CONFLICT (episode_key) DO UPDATE SET initial_observation = excluded.initial_observation,
         initial_admissible = excluded.initial_admissible, policy = excluded.policy`,
      [
        key,
        texts.write(episode.initialObservation),
        episode.initialAdmissible === null ? null : texts.writeJson(episode.initialAdmissible),
        texts.writeJson(episode.policy),
      ],
    );
    return key;
  }

  /**
   * Makes room for the next attempt of an unfinished episode. What was stored moves, rows and all, to an id of its own; an attempt
   * that came to no step and to no failure has nothing to show, and its row is used again.
   *
   * @returns the number of the next attempt
   */
  function setAside(episodeId: EpisodeId, { key, status, attempt }: Found, at: number): number {
    const steps = connection.get('SELECT 1 AS n FROM steps WHERE episode_key = ? LIMIT 1', [key]);
    if (steps === undefined && status !== 'failed') {
      noteRestart(meters);
      return attempt;
    }
    connection.run('UPDATE episodes SET episode_id = ?, replaced_by = ? WHERE episode_key = ?', [
      attemptId(episodeId, attempt),
      episodeId,
      key,
    ]);
    connection.run(
      `UPDATE episodes SET status = 'abandoned', finished_at = ?, ${storedTotals}
       WHERE episode_key = ? AND status = 'running'`,
      [at, key],
    );
    return attempt + 1;
  }

  function insertSteps(key: number, list: readonly Step[]): void {
    let added = 0;
    for (const step of list) if (steps.insert(key, step)) added += 1;
    meters.add('steps', added);
  }

  function rowOf(row: SqlRow): Record<keyof EpisodeRow, unknown> {
    return {
      episodeId: row['episode_id'],
      jobId: row['job_id'],
      purpose: row['purpose'],
      environmentId: row['environment_id'],
      environmentVersion: row['environment_version'],
      dataChecksum: hashFromBytes(row['data_checksum']),
      taskId: row['task_id'],
      taskType: row['task_type'],
      split: row['split'],
      instruction: row['instruction'],
      policyKey: row['policy_key'],
      policyLabel: row['policy_label'],
      seed: row['seed'],
      rolloutIndex: row['rollout_index'],
      status: row['status'],
      endReason: row['end_reason'],
      success: flag(row['success']),
      totalReward: row['total_reward'],
      steps: row['running_steps'] ?? row['steps'],
      invalidActions: row['running_invalid'] ?? row['invalid_actions'],
      parseFailures: row['parse_failures'],
      promptTokens: row['prompt_tokens'],
      evaluatedPromptTokens: row['evaluated_prompt_tokens'],
      completionTokens: row['completion_tokens'],
      modelMs: row['model_ms'],
      environmentMs: row['environment_ms'],
      retries: row['retries'],
      attempt: row['attempt'],
      replacedBy: row['replaced_by'],
      error: decodeJson(row['error']),
      startedAt: row['started_at'],
      finishedAt: row['finished_at'],
    };
  }

  function among(episodeIds: readonly EpisodeId[], condition: string): Set<EpisodeId> {
    const rows = connection.all(
      `SELECT episode_id FROM episodes WHERE ${condition} episode_id IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(episodeIds)],
    );
    return new Set(rows.map((row) => String(row['episode_id']) as EpisodeId));
  }

  return {
    begin(episode) {
      connection.transaction(() => {
        const found = find(episode.episodeId);
        if (found?.status === 'finished') {
          throw new AppError({
            code: 'CONFLICT',
            message: `Episode ${episode.episodeId} is finished and stays as it is; finished work is never run again.`,
            data: { episodeId: episode.episodeId },
          });
        }
        const attempt = found === null ? 1 : setAside(episode.episodeId, found, episode.startedAt);
        upsert({ ...episode, attempt });
      });
    },

    appendSteps(list) {
      connection.transaction(() => {
        const byEpisode = Map.groupBy(list, (step) => step.episodeId);
        for (const [episodeId, own] of byEpisode) insertSteps(requireEpisode(episodeId).key, own);
      });
    },

    finish(episode) {
      connection.transaction(() => {
        requireEpisode(episode.episodeId);
        upsert(episode);
      });
    },

    insertWhole(episode, list) {
      connection.transaction(() => {
        const found = find(episode.episodeId);
        // A person's moves are in the id: it is the same game, recorded again.
        if (found?.status === 'finished' || (found !== null && episode.purpose === 'human')) return;
        const attempt = found === null ? 1 : setAside(episode.episodeId, found, episode.startedAt);
        insertSteps(upsert({ ...episode, attempt }), list);
      });
    },

    get(episodeId) {
      const row = connection.get(
        `SELECT episodes.*, ${runningTotals}, instructions.text AS instruction, initial_observation, initial_admissible, policy FROM episodes
         JOIN episode_details USING (episode_key) JOIN instructions USING (instruction_key) WHERE episode_id = ?`,
        [episodeId],
      );
      if (row === undefined) return null;
      return parseRow(
        episodeSchema,
        {
          ...rowOf(row),
          initialObservation: texts.read(row['initial_observation']),
          initialAdmissible: texts.readJson(row['initial_admissible']),
          policy: texts.readJson(row['policy']),
        },
        where,
      );
    },

    idsStartingWith: (prefix, limit) =>
      idsStartingWith(connection, { table: 'episodes', column: 'episode_id' }, prefix, limit) as EpisodeId[],

    steps: (episodeId) => steps.all(episodeId),
    step: (episodeId, stepIndex) => steps.get(episodeId, stepIndex),

    stored: (episodeIds) => among(episodeIds, ''),
    finished: (episodeIds) => among(episodeIds, `status = 'finished' AND`),

    list(filter, sort, page) {
      const order = `episodes-${sort}`;
      const after = decodeCursor(order, 2, page.cursor);
      const query = episodeListQuery({
        columns: episodeRowColumns,
        filter,
        sort,
        after,
        limit: page.limit + 1,
      });
      const rows = connection.all(query.sql, query.parameters);
      const count = episodeCountQuery(filter);
      // Counted once, on the first page: later pages of the same list know it already.
      const total = after === null ? numberOf(connection.get(count.sql, count.parameters), 'total') : null;
      return pageFrom(rows, page.limit, {
        item: (row) => parseRow(episodeRowSchema, rowOf(row), where),
        cursor: (row) =>
          encodeCursor(order, [numberOf(row, episodeSortColumn(sort)), numberOf(row, 'episode_key')]),
        total,
      });
    },

    neighbours(episodeId, filter, sort) {
      const column = episodeSortColumn(sort);
      const row = connection.get(`SELECT ${column}, episode_key FROM episodes WHERE episode_id = ?`, [
        episodeId,
      ]);
      if (row === undefined) return { previous: null, next: null };
      const after = [numberOf(row, column), numberOf(row, 'episode_key')];
      function closest(reversed: boolean): EpisodeId | null {
        const query = episodeListQuery({ columns: 'episode_id', filter, sort, after, reversed, limit: 1 });
        const found = connection.get(query.sql, query.parameters);
        return found === undefined ? null : (String(found['episode_id']) as EpisodeId);
      }
      return { previous: closest(true), next: closest(false) };
    },

    facets() {
      function values(column: string, notNull?: string): string[] {
        return connection.all(distinctQuery(column, notNull)).map((row) => String(row['value']));
      }
      return {
        environments: values('environment_id'),
        taskTypes: values('task_type'),
        policies: values('policy_key').map((policyKey) => ({
          policyKey,
          label: String(
            connection.get(
              'SELECT policy_label FROM episodes WHERE policy_key = ? ORDER BY started_at DESC LIMIT 1',
              [policyKey],
            )?.['policy_label'] ?? policyKey,
          ),
        })),
        errorCodes: values('error_code', 'error_code IS NOT NULL'),
      };
    },

    abandonRunning({ jobId, at }) {
      const running = `status = 'running'${jobId === undefined ? '' : ' AND job_id = @jobId'}`;
      const own = jobId === undefined ? {} : { jobId };
      return connection.transaction(() => {
        // An ended episode meters its own steps; these never came to that, and were executed all the same.
        for (const row of connection.all(
          `SELECT split, count(*) AS executed FROM episodes JOIN steps USING (episode_key) WHERE ${running} GROUP BY split`,
          own,
        ))
          meters.add(`${realStepsPrefix}${String(row['split'])}`, numberOf(row, 'executed'));
        return connection.run(
          `UPDATE episodes SET status = 'abandoned', finished_at = @at, ${storedTotals} WHERE ${running}`,
          { at, ...own },
        );
      });
    },
  };
}
