/** Reflections with their flags and reviews. `kept` = the review's decision, or the filters' where there is none. */
import type { Connection, SqlRow, SqlValue } from '#core/store/driver.ts';
import type { TextColumns } from '#core/store/blobs.ts';
import {
  bit,
  decodeJson,
  decodeLogprobs,
  decodeTokens,
  encodeJson,
  encodeLogprobs,
  encodeTokens,
  flag,
  numberOf,
  parseRow,
} from '#core/store/columns.ts';
import type { ReflectionStore } from '#core/store/port.ts';
import { decodeCursor, encodeCursor, pageFrom } from '#core/store/queries/cursor.ts';
import { AppError } from '#shared/errors.ts';
import type { ReflectionId } from '#shared/ids.ts';
import { reflectionSchema } from '#shared/schema/branch.ts';
import type { Reflection, Review } from '#shared/schema/branch.ts';

const insertSql = `INSERT INTO reflections (reflection_id, job_id, episode_key, step_index, branch_ids, expert_action, text, prompt,
    raw, generator_model_id, generator_label, completion_tokens, logprobs, attempt, flags, kept_by_filters, kept, dropped_by,
    decision, review_reason, reviewed_at, created_at)
  SELECT @reflectionId, @jobId, episode_key, @stepIndex, @branchIds, @expertAction, @text, @prompt, @raw, @generatorModelId,
    @generatorLabel, @completionTokens, @logprobs, @attempt, @flags, @keptByFilters, @kept, @droppedBy, @decision,
    @reviewReason, @reviewedAt, @createdAt
  FROM episodes WHERE episode_id = @episodeId
  ON CONFLICT (reflection_id) DO NOTHING`;
const selectSql = `SELECT reflections.*, episodes.episode_id FROM reflections
  JOIN episodes ON episodes.episode_key = reflections.episode_key`;

/** Of a run that is still there. What a removed one left cannot be exported again: nobody has to judge it. */
export const ofStoredRun = `(reflections.job_id IS NULL
  OR EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = reflections.job_id))`;

function isKept(keptByFilters: boolean, decision: Review['decision']): boolean {
  return decision === 'pending' ? keptByFilters : decision === 'keep';
}

export function createReflectionStore(connection: Connection, texts: TextColumns): ReflectionStore {
  function fromRow(row: SqlRow): Reflection {
    return parseRow(
      reflectionSchema,
      {
        reflectionId: row['reflection_id'],
        episodeId: row['episode_id'],
        stepIndex: row['step_index'],
        jobId: row['job_id'],
        branchIds: decodeJson(row['branch_ids']),
        expertAction: row['expert_action'],
        text: texts.read(row['text']),
        prompt: texts.read(row['prompt']),
        raw: texts.read(row['raw']),
        generatorModelId: row['generator_model_id'],
        generatorLabel: row['generator_label'],
        completionTokens: decodeTokens(row['completion_tokens']),
        logprobs: decodeLogprobs(row['logprobs']),
        attempt: row['attempt'],
        flags: decodeJson(row['flags']),
        keptByFilters: flag(row['kept_by_filters']),
        droppedBy: decodeJson(row['dropped_by']),
        review: { decision: row['decision'], reason: row['review_reason'], at: row['reviewed_at'] },
        createdAt: row['created_at'],
      },
      { table: 'reflections', file: connection.file },
    );
  }

  function insertOne(reflection: Reflection): void {
    const added = connection.run(insertSql, {
      reflectionId: reflection.reflectionId,
      episodeId: reflection.episodeId,
      jobId: reflection.jobId,
      stepIndex: reflection.stepIndex,
      branchIds: encodeJson(reflection.branchIds),
      expertAction: reflection.expertAction,
      text: texts.write(reflection.text),
      prompt: texts.write(reflection.prompt),
      raw: texts.write(reflection.raw),
      generatorModelId: reflection.generatorModelId,
      generatorLabel: reflection.generatorLabel,
      completionTokens: encodeTokens(reflection.completionTokens),
      logprobs: encodeLogprobs(reflection.logprobs),
      attempt: reflection.attempt,
      flags: encodeJson(reflection.flags),
      keptByFilters: bit(reflection.keptByFilters),
      kept: bit(isKept(reflection.keptByFilters, reflection.review.decision)),
      droppedBy: encodeJson(reflection.droppedBy),
      decision: reflection.review.decision,
      reviewReason: reflection.review.reason,
      reviewedAt: reflection.review.at,
      createdAt: reflection.createdAt,
    });
    if (added === 0) {
      if (get(reflection.reflectionId) !== null) return;
      throw new AppError({
        code: 'NOT_FOUND',
        message: `Reflection ${reflection.reflectionId} belongs to episode ${reflection.episodeId}, which is not stored. Nothing of this call was stored.`,
        data: { reflectionId: reflection.reflectionId, episodeId: reflection.episodeId },
      });
    }
    for (const { flag: name } of reflection.flags) {
      connection.run(
        `INSERT INTO reflection_flags (flag, reflection_key)
         SELECT ?, reflection_key FROM reflections WHERE reflection_id = ? ON CONFLICT DO NOTHING`,
        [name, reflection.reflectionId],
      );
    }
  }

  function get(reflectionId: ReflectionId): Reflection | null {
    const row = connection.get(`${selectSql} WHERE reflection_id = ?`, [reflectionId]);
    return row === undefined ? null : fromRow(row);
  }

  return {
    insert(reflections) {
      connection.transaction(() => {
        for (const reflection of reflections) insertOne(reflection);
      });
    },

    get,

    ofEpisode: (episodeId, jobId) =>
      connection
        .all(
          `${selectSql} WHERE reflections.episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?)
             ${jobId === undefined ? '' : 'AND reflections.job_id = ?'}
           ORDER BY step_index, reflection_key`,
          jobId === undefined ? [episodeId] : [episodeId, jobId],
        )
        .map(fromRow),

    attempts(of) {
      const states = new Map(
        of.map((one) => [`${one.episodeId} ${one.jobId ?? ''} ${String(one.stepIndex)}`, one]),
      );
      return [...states.values()].flatMap(({ episodeId, jobId, stepIndex }) =>
        connection
          .all(
            `${selectSql} WHERE reflections.episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?)
               AND step_index = ? AND reflections.job_id IS ? ORDER BY reflection_key`,
            [episodeId, stepIndex, jobId],
          )
          .map(fromRow),
      );
    },

    list(filter, page) {
      const conditions: string[] = [];
      const parameters: SqlValue[] = [];
      function add(condition: string, value: SqlValue): void {
        conditions.push(condition);
        parameters.push(value);
      }
      if (filter.episodeId !== undefined) {
        add(
          'reflections.episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?)',
          filter.episodeId,
        );
      } else conditions.push(ofStoredRun);
      if (filter.jobId !== undefined) add('reflections.job_id = ?', filter.jobId);
      if (filter.flag !== undefined) {
        add('reflection_key IN (SELECT reflection_key FROM reflection_flags WHERE flag = ?)', filter.flag);
      }
      if (filter.decision !== undefined) add('decision = ?', filter.decision);
      if (filter.kept !== undefined) add('kept = ?', bit(filter.kept));
      const after = decodeCursor('reflections', 1, page.cursor);
      const matching = conditions.length === 0 ? 'TRUE' : conditions.join(' AND ');
      const total =
        after === null
          ? numberOf(
              connection.get(`SELECT count(*) AS n FROM reflections WHERE ${matching}`, parameters),
              'n',
            )
          : null;
      const rows = connection.all(
        `${selectSql} WHERE ${matching}${after === null ? '' : ' AND reflection_key > ?'} ORDER BY reflection_key LIMIT ?`,
        [...parameters, ...(after ?? []), page.limit + 1],
      );
      return pageFrom(rows, page.limit, {
        item: fromRow,
        cursor: (row) => encodeCursor('reflections', [numberOf(row, 'reflection_key')]),
        total,
      });
    },

    review(reflectionId, review) {
      return connection.transaction(() => {
        const found = get(reflectionId);
        if (found === null) {
          throw new AppError({
            code: 'NOT_FOUND',
            message: `No reflection ${reflectionId} is stored.`,
            data: { reflectionId },
          });
        }
        connection.run(
          'UPDATE reflections SET decision = ?, review_reason = ?, reviewed_at = ?, kept = ? WHERE reflection_id = ?',
          [
            review.decision,
            review.reason,
            review.at,
            bit(isKept(found.keptByFilters, review.decision)),
            reflectionId,
          ],
        );
        return { ...found, review };
      });
    },
  };
}
