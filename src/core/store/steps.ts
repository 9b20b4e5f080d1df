/** Step rows. A row holds what came back from action a_t; the state it was taken in is the observation of the row before. */
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
  hashFromBytes,
  hashToBytes,
  parseRow,
} from '#core/store/columns.ts';
import { stepSchema } from '#shared/schema/episode.ts';
import type { Step } from '#shared/schema/episode.ts';

const columns = [
  'episode_key',
  'step_index',
  'prompt_hash',
  'prompt_prefix_length',
  'evaluated_prompt_tokens',
  'prompt_tokens',
  'completion_tokens',
  'logprobs',
  'completion',
  'thought',
  'action',
  'parse_status',
  'valid',
  'observation',
  'admissible',
  'observation_hash',
  'reward',
  'terminated',
  'truncated',
  'error',
  'model_ms',
  'environment_ms',
  'created_at',
] as const;

const insertSql = `INSERT INTO steps (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
  ON CONFLICT (episode_key, step_index) DO NOTHING`;
const selectSql = `SELECT ${columns.map((column) => `steps.${column}`).join(', ')}, episodes.episode_id
  FROM steps JOIN episodes ON episodes.episode_key = steps.episode_key`;

export interface StepTable {
  /** false when the step was stored before. */
  insert(episodeKey: number, step: Step): boolean;
  all(episodeId: string): Step[];
  get(episodeId: string, stepIndex: number): Step | null;
}

export function createStepTable(connection: Connection, texts: TextColumns): StepTable {
  function optionalText(text: string | null): SqlValue {
    return text === null ? null : texts.write(text);
  }

  function fromRow(row: SqlRow): Step {
    const hasTokens = row['prompt_prefix_length'] !== null;
    return parseRow(
      stepSchema,
      {
        episodeId: row['episode_id'],
        stepIndex: row['step_index'],
        promptHash: hashFromBytes(row['prompt_hash']),
        tokens: hasTokens
          ? {
              promptPrefixLength: row['prompt_prefix_length'],
              promptTokens: decodeTokens(row['prompt_tokens']),
              completionTokens: decodeTokens(row['completion_tokens']),
              logprobs: decodeLogprobs(row['logprobs']),
              evaluatedPromptTokens: row['evaluated_prompt_tokens'],
            }
          : null,
        completion: texts.read(row['completion']),
        thought: texts.read(row['thought']),
        action: row['action'],
        parseStatus: row['parse_status'],
        valid: flag(row['valid']),
        observation: texts.read(row['observation']),
        admissible: texts.readJson(row['admissible']),
        observationHash: hashFromBytes(row['observation_hash']),
        reward: row['reward'],
        terminated: flag(row['terminated']),
        truncated: flag(row['truncated']),
        error: decodeJson(row['error']),
        modelMs: row['model_ms'],
        environmentMs: row['environment_ms'],
        createdAt: row['created_at'],
      },
      { table: 'steps', file: connection.file },
    );
  }

  return {
    insert(episodeKey, step) {
      const { tokens } = step;
      return (
        connection.run(insertSql, [
          episodeKey,
          step.stepIndex,
          step.promptHash === null ? null : hashToBytes(step.promptHash),
          tokens?.promptPrefixLength ?? null,
          tokens?.evaluatedPromptTokens ?? null,
          tokens === null ? null : encodeTokens(tokens.promptTokens),
          tokens === null ? null : encodeTokens(tokens.completionTokens),
          tokens === null ? null : encodeLogprobs(tokens.logprobs),
          optionalText(step.completion),
          optionalText(step.thought),
          step.action,
          step.parseStatus,
          bit(step.valid),
          texts.write(step.observation),
          step.admissible === null ? null : texts.writeJson(step.admissible),
          hashToBytes(step.observationHash),
          step.reward,
          bit(step.terminated),
          bit(step.truncated),
          encodeJson(step.error, 'nullable'),
          step.modelMs,
          step.environmentMs,
          step.createdAt,
        ]) === 1
      );
    },
    all: (episodeId) =>
      connection
        .all(`${selectSql} WHERE episodes.episode_id = ? ORDER BY steps.step_index`, [episodeId])
        .map(fromRow),
    get(episodeId, stepIndex) {
      const row = connection.get(`${selectSql} WHERE episodes.episode_id = ? AND steps.step_index = ?`, [
        episodeId,
        stepIndex,
      ]);
      return row === undefined ? null : fromRow(row);
    },
  };
}
