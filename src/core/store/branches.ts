/**
 * Branch rows. A branch belongs to the job that executed it (docs/adr/0025): two jobs that branch one demonstration have rows of
 * their own, and reads by episode or state give those of all jobs unless one is named.
 */
import type { Connection, SqlRow } from '#core/store/driver.ts';
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
  numberOf,
  parseRow,
} from '#core/store/columns.ts';
import type { Meters } from '#core/store/meters.ts';
import { branchStateKey } from '#core/store/port.ts';
import type { BranchStore } from '#core/store/port.ts';
import { AppError } from '#shared/errors.ts';
import { branchSchema } from '#shared/schema/branch.ts';
import type { Branch } from '#shared/schema/branch.ts';

const insertSql = `INSERT INTO branches (branch_id, job_id, episode_key, step_index, purpose, source, alternative_index, action,
    canonical_action, admissible, valid, observation, same_as_expert, reward, terminated, truncated, success, status,
    reject_reason, proof_method, expected_hash, observed_hash, prefix_length, proposal_model_id, proposal_raw, proposal_tokens,
    proposal_logprobs, proposal_temperature, error, created_at)
  SELECT @branchId, @jobId, episode_key, @stepIndex, @purpose, @source, @alternativeIndex, @action, @canonicalAction,
    @admissible, @valid, @observation, @sameAsExpert, @reward, @terminated, @truncated, @success, @status, @rejectReason,
    @proofMethod, @expectedHash, @observedHash, @prefixLength, @proposalModelId, @proposalRaw, @proposalTokens,
    @proposalLogprobs, @proposalTemperature, @error, @createdAt
  FROM episodes WHERE episode_id = @episodeId
  ON CONFLICT DO NOTHING`;
const selectSql = `SELECT branches.*, episodes.episode_id FROM branches
  JOIN episodes ON episodes.episode_key = branches.episode_key`;

export function createBranchStore(connection: Connection, texts: TextColumns, meters: Meters): BranchStore {
  function fromRow(row: SqlRow): Branch {
    return parseRow(
      branchSchema,
      {
        branchId: row['branch_id'],
        episodeId: row['episode_id'],
        stepIndex: row['step_index'],
        jobId: row['job_id'],
        purpose: row['purpose'],
        source: row['source'],
        alternativeIndex: row['alternative_index'],
        action: row['action'],
        canonicalAction: row['canonical_action'],
        admissible: flag(row['admissible']),
        valid: flag(row['valid']),
        observation: texts.read(row['observation']),
        sameAsExpert: flag(row['same_as_expert']),
        reward: row['reward'],
        terminated: flag(row['terminated']),
        truncated: flag(row['truncated']),
        success: flag(row['success']),
        status: row['status'],
        rejectReason: row['reject_reason'],
        proof: {
          method: row['proof_method'],
          expectedHash: hashFromBytes(row['expected_hash']),
          observedHash: hashFromBytes(row['observed_hash']),
          prefixLength: row['prefix_length'],
        },
        proposal:
          row['proposal_temperature'] === null
            ? null
            : {
                modelId: row['proposal_model_id'],
                raw: texts.read(row['proposal_raw']),
                completionTokens: decodeTokens(row['proposal_tokens']),
                logprobs: decodeLogprobs(row['proposal_logprobs']),
                temperature: row['proposal_temperature'],
              },
        error: decodeJson(row['error']),
        createdAt: row['created_at'],
      },
      { table: 'branches', file: connection.file },
    );
  }

  function insertOne(branch: Branch): number {
    const { proposal, proof } = branch;
    return connection.run(insertSql, {
      branchId: branch.branchId,
      episodeId: branch.episodeId,
      jobId: branch.jobId,
      stepIndex: branch.stepIndex,
      purpose: branch.purpose,
      source: branch.source,
      alternativeIndex: branch.alternativeIndex,
      action: branch.action,
      canonicalAction: branch.canonicalAction,
      admissible: bit(branch.admissible),
      valid: bit(branch.valid),
      observation: texts.write(branch.observation),
      sameAsExpert: bit(branch.sameAsExpert),
      reward: branch.reward,
      terminated: bit(branch.terminated),
      truncated: bit(branch.truncated),
      success: bit(branch.success),
      status: branch.status,
      rejectReason: branch.rejectReason,
      proofMethod: proof.method,
      expectedHash: hashToBytes(proof.expectedHash),
      observedHash: hashToBytes(proof.observedHash),
      prefixLength: proof.prefixLength,
      proposalModelId: proposal?.modelId ?? null,
      proposalRaw: proposal === null ? null : texts.write(proposal.raw),
      proposalTokens: proposal === null ? null : encodeTokens(proposal.completionTokens),
      proposalLogprobs: proposal === null ? null : encodeLogprobs(proposal.logprobs),
      proposalTemperature: proposal?.temperature ?? null,
      error: encodeJson(branch.error, 'nullable'),
      createdAt: branch.createdAt,
    });
  }

  return {
    insert(branches) {
      connection.transaction(() => {
        let added = 0;
        for (const branch of branches) {
          const changed = insertOne(branch);
          added += changed;
          if (changed === 1) continue;
          const known = connection.get('SELECT 1 AS n FROM episodes WHERE episode_id = ?', [
            branch.episodeId,
          ]);
          if (known === undefined) {
            throw new AppError({
              code: 'NOT_FOUND',
              message: `Branch ${branch.branchId} belongs to episode ${branch.episodeId}, which is not stored. No branch of this call was stored.`,
              data: { branchId: branch.branchId, episodeId: branch.episodeId },
            });
          }
        }
        meters.add('branches', added);
      });
    },

    get(branchId) {
      const row = connection.get(`${selectSql} WHERE branch_id = ?`, [branchId]);
      return row === undefined ? null : fromRow(row);
    },

    ofEpisode: (episodeId, jobId) =>
      connection
        .all(
          `${selectSql} WHERE branches.episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?)
             ${jobId === undefined ? '' : 'AND branches.job_id = ?'}
           ORDER BY step_index, branches.purpose, alternative_index, branch_key`,
          jobId === undefined ? [episodeId] : [episodeId, jobId],
        )
        .map(fromRow),

    ofState: (episodeId, stepIndex, purpose) =>
      connection
        .all(
          `${selectSql} WHERE branches.episode_key = (SELECT episode_key FROM episodes WHERE episode_id = @episodeId)
             AND step_index = @stepIndex ${purpose === undefined ? '' : 'AND branches.purpose = @purpose'}
           ORDER BY branches.purpose, alternative_index, branch_key`,
          purpose === undefined ? { episodeId, stepIndex } : { episodeId, stepIndex, purpose },
        )
        .map(fromRow),

    countByStep(episodeId) {
      const rows = connection.all(
        `SELECT step_index, count(*) AS n FROM branches
         WHERE episode_key = (SELECT episode_key FROM episodes WHERE episode_id = ?) GROUP BY step_index`,
        [episodeId],
      );
      return new Map(rows.map((row) => [numberOf(row, 'step_index'), numberOf(row, 'n')]));
    },

    doneStates(jobId) {
      const rows = connection.all(
        `SELECT DISTINCT branches.purpose, episodes.episode_id, step_index FROM branches
         JOIN episodes ON episodes.episode_key = branches.episode_key WHERE branches.job_id = ?`,
        [jobId],
      );
      return new Set(
        rows.map((row) =>
          branchStateKey(
            row['purpose'] as Branch['purpose'],
            row['episode_id'] as Branch['episodeId'],
            numberOf(row, 'step_index'),
          ),
        ),
      );
    },

    summary(jobId) {
      const row = connection.get(
        `SELECT count(*) AS executed, ifnull(sum(purpose = 'expert'), 0) AS expert, ifnull(sum(purpose = 'iwm'), 0) AS iwm,
           ifnull(sum(purpose = 'sr'), 0) AS sr, ifnull(sum(status = 'accepted'), 0) AS accepted,
           ifnull(sum(status = 'rejected'), 0) AS rejected,
           ifnull(sum(status = 'accepted' AND valid = 0), 0) AS invalid,
           ifnull(sum(status = 'accepted' AND admissible = 0), 0) AS inadmissible,
           ifnull(sum(status = 'accepted' AND same_as_expert = 1 AND purpose <> 'expert'), 0) AS same_as_expert,
           ifnull(sum(status = 'accepted' AND source = 'refill'), 0) AS refilled,
           ifnull(sum(status = 'accepted' AND source = 'unasked'), 0) AS unasked
         FROM branches WHERE job_id = ?`,
        [jobId],
      );
      return {
        executed: numberOf(row, 'executed'),
        expert: numberOf(row, 'expert'),
        iwm: numberOf(row, 'iwm'),
        sr: numberOf(row, 'sr'),
        accepted: numberOf(row, 'accepted'),
        rejected: numberOf(row, 'rejected'),
        invalid: numberOf(row, 'invalid'),
        inadmissible: numberOf(row, 'inadmissible'),
        sameAsExpert: numberOf(row, 'same_as_expert'),
        refilled: numberOf(row, 'refilled'),
        unasked: numberOf(row, 'unasked'),
      };
    },
  };
}
