/**
 * The first schema. Never edited after release; a change is a new numbered file.
 *
 * Conventions: STRICT tables; `…_key` is the compact row number that other tables refer to, `…_id` the public id; booleans are
 * 0/1; times are milliseconds; hashes are 32 bytes; JSON is TEXT. A column of type ANY holds a text: TEXT inline when short,
 * a 32-byte BLOB (the hash of a row of `blobs`) when long. Each list of the GUI has an index that begins with its filter and
 * ends with its order.
 */
export const firstSchema = `
CREATE TABLE blobs (
  blob_key INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  content BLOB NOT NULL
) STRICT;

CREATE TABLE meters (
  name TEXT PRIMARY KEY NOT NULL,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  job_key INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL UNIQUE,
  parent_id TEXT REFERENCES jobs (job_id) ON DELETE CASCADE,
  stage TEXT,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  spec TEXT NOT NULL,
  seed INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'pausing', 'paused', 'cancelling', 'succeeded', 'failed', 'cancelled')),
  attempt INTEGER NOT NULL DEFAULT 1,
  progress TEXT,
  result TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  active_ms INTEGER NOT NULL DEFAULT 0,
  active_mark INTEGER,
  last_event_at INTEGER,
  checkpoint TEXT,
  commits INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  crash_commits INTEGER NOT NULL DEFAULT -1,
  resume_wanted INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_by_stage ON jobs (parent_id, stage) WHERE parent_id IS NOT NULL;
CREATE INDEX jobs_by_parent ON jobs (parent_id, job_key);
CREATE INDEX jobs_by_state ON jobs (state, job_key);
CREATE INDEX jobs_by_kind ON jobs (kind, job_key);

CREATE TABLE job_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX job_events_by_job ON job_events (job_id, seq);
CREATE INDEX job_events_by_level ON job_events (job_id, level, seq);

CREATE TABLE metrics (
  job_id TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (job_id, name, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  environment_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  family TEXT NOT NULL,
  split TEXT NOT NULL,
  type TEXT NOT NULL,
  instruction TEXT NOT NULL,
  meta TEXT NOT NULL,
  PRIMARY KEY (environment_id, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE instructions (
  instruction_key INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE instructions_search USING fts5 (
  text, content = 'instructions', content_rowid = 'instruction_key', tokenize = 'trigram'
);
CREATE TRIGGER instructions_indexed AFTER INSERT ON instructions BEGIN
  INSERT INTO instructions_search (rowid, text) VALUES (new.instruction_key, new.text);
END;

CREATE TABLE episodes (
  episode_key INTEGER PRIMARY KEY,
  episode_id TEXT NOT NULL UNIQUE,
  job_id TEXT,
  purpose TEXT NOT NULL,
  environment_id TEXT NOT NULL,
  environment_version TEXT NOT NULL,
  data_checksum BLOB NOT NULL,
  task_id TEXT NOT NULL,
  task_type TEXT NOT NULL,
  split TEXT NOT NULL,
  instruction_key INTEGER NOT NULL REFERENCES instructions,
  policy_key TEXT NOT NULL,
  policy_label TEXT NOT NULL,
  seed INTEGER NOT NULL,
  rollout_index INTEGER NOT NULL,
  status TEXT NOT NULL,
  end_reason TEXT,
  success INTEGER NOT NULL,
  total_reward REAL NOT NULL,
  steps INTEGER NOT NULL,
  invalid_actions INTEGER NOT NULL,
  parse_failures INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  evaluated_prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  model_ms INTEGER NOT NULL,
  environment_ms INTEGER NOT NULL,
  retries INTEGER NOT NULL,
  error_code TEXT,
  error TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX episodes_by_start ON episodes (started_at);
CREATE INDEX episodes_by_reward ON episodes (total_reward);
CREATE INDEX episodes_by_steps ON episodes (steps);
CREATE INDEX episodes_by_environment ON episodes (environment_id, started_at);
CREATE INDEX episodes_by_split ON episodes (split, started_at);
CREATE INDEX episodes_by_task_type ON episodes (task_type, started_at);
CREATE INDEX episodes_by_purpose ON episodes (purpose, started_at);
CREATE INDEX episodes_by_status ON episodes (status, started_at);
CREATE INDEX episodes_by_success ON episodes (success, started_at);
CREATE INDEX episodes_by_job ON episodes (job_id, started_at) WHERE job_id IS NOT NULL;
CREATE INDEX episodes_by_policy ON episodes (policy_key, started_at);
CREATE INDEX episodes_by_task ON episodes (task_id, started_at);
CREATE INDEX episodes_by_instruction ON episodes (instruction_key, started_at);
CREATE INDEX episodes_by_error ON episodes (error_code, started_at) WHERE error_code IS NOT NULL;
CREATE INDEX episodes_with_invalid ON episodes (started_at) WHERE invalid_actions > 0;
CREATE INDEX episodes_without_invalid ON episodes (started_at) WHERE invalid_actions = 0;

CREATE TABLE episode_details (
  episode_key INTEGER PRIMARY KEY REFERENCES episodes ON DELETE CASCADE,
  initial_observation ANY NOT NULL,
  initial_admissible ANY,
  policy ANY NOT NULL
) STRICT;

CREATE TABLE steps (
  step_key INTEGER PRIMARY KEY,
  episode_key INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  step_index INTEGER NOT NULL,
  prompt_hash BLOB,
  prompt_prefix_length INTEGER,
  evaluated_prompt_tokens INTEGER,
  prompt_tokens BLOB,
  completion_tokens BLOB,
  logprobs BLOB,
  completion ANY,
  thought ANY,
  action TEXT NOT NULL,
  parse_status TEXT NOT NULL,
  valid INTEGER NOT NULL,
  observation ANY NOT NULL,
  admissible ANY,
  observation_hash BLOB NOT NULL,
  reward REAL NOT NULL,
  terminated INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  error TEXT,
  model_ms INTEGER NOT NULL,
  environment_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX steps_by_episode ON steps (episode_key, step_index);

CREATE TABLE branches (
  branch_key INTEGER PRIMARY KEY,
  branch_id TEXT NOT NULL,
  job_id TEXT,
  episode_key INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  step_index INTEGER NOT NULL,
  purpose TEXT NOT NULL,
  source TEXT NOT NULL,
  alternative_index INTEGER NOT NULL,
  action TEXT NOT NULL,
  canonical_action TEXT NOT NULL,
  admissible INTEGER NOT NULL,
  valid INTEGER NOT NULL,
  observation ANY NOT NULL,
  same_as_expert INTEGER NOT NULL,
  reward REAL NOT NULL,
  terminated INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  success INTEGER NOT NULL,
  status TEXT NOT NULL,
  reject_reason TEXT,
  proof_method TEXT NOT NULL,
  expected_hash BLOB NOT NULL,
  observed_hash BLOB NOT NULL,
  prefix_length INTEGER NOT NULL,
  proposal_model_id TEXT,
  proposal_raw ANY,
  proposal_tokens BLOB,
  proposal_logprobs BLOB,
  proposal_temperature REAL,
  error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX branches_by_id ON branches (branch_id, ifnull(job_id, ''));
CREATE INDEX branches_by_state ON branches (episode_key, step_index, purpose, alternative_index);
CREATE INDEX branches_by_job ON branches (job_id, branch_key);

CREATE TABLE reflections (
  reflection_key INTEGER PRIMARY KEY,
  reflection_id TEXT NOT NULL UNIQUE,
  job_id TEXT,
  episode_key INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  step_index INTEGER NOT NULL,
  branch_ids TEXT NOT NULL,
  expert_action TEXT NOT NULL,
  text ANY NOT NULL,
  prompt ANY NOT NULL,
  raw ANY NOT NULL,
  generator_model_id TEXT,
  generator_label TEXT NOT NULL,
  completion_tokens BLOB NOT NULL,
  logprobs BLOB NOT NULL,
  attempt INTEGER NOT NULL,
  flags TEXT NOT NULL,
  kept_by_filters INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  dropped_by TEXT NOT NULL,
  decision TEXT NOT NULL,
  review_reason TEXT NOT NULL,
  reviewed_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX reflections_by_episode ON reflections (episode_key, step_index, reflection_key);
CREATE INDEX reflections_by_job ON reflections (job_id, reflection_key);
CREATE INDEX reflections_by_decision ON reflections (decision, reflection_key);
CREATE INDEX reflections_by_kept ON reflections (kept, reflection_key);

CREATE TABLE reflection_flags (
  flag TEXT NOT NULL,
  reflection_key INTEGER NOT NULL REFERENCES reflections ON DELETE CASCADE,
  PRIMARY KEY (flag, reflection_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE datasets (
  dataset_key INTEGER PRIMARY KEY AUTOINCREMENT,
  dataset_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  job_id TEXT,
  folder TEXT NOT NULL,
  manifest TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE dataset_episodes (
  episode_key INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  dataset_key INTEGER NOT NULL REFERENCES datasets ON DELETE CASCADE,
  PRIMARY KEY (episode_key, dataset_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX dataset_episodes_by_dataset ON dataset_episodes (dataset_key);

CREATE TABLE models (
  model_id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  location TEXT NOT NULL,
  remote_name TEXT,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB,
  facts TEXT,
  problem TEXT,
  added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX models_by_location ON models (location);
CREATE INDEX models_by_name ON models (name);
CREATE TABLE calibrations (
  model_id TEXT NOT NULL,
  machine TEXT NOT NULL,
  threads INTEGER NOT NULL,
  trials TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (model_id, machine)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment_folders (
  environment_id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  folder TEXT NOT NULL,
  added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE conformance_results (
  environment_id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  rules TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE presets (
  preset_id TEXT PRIMARY KEY NOT NULL,
  title TEXT NOT NULL,
  yaml TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
