/** The games of a user's folder, as they were read when it was added: a start of the host must not read thousands of files. */
export const folderGames = `
CREATE TABLE environment_games (
  environment_id TEXT NOT NULL REFERENCES environment_folders ON DELETE CASCADE,
  file TEXT NOT NULL,
  split TEXT NOT NULL,
  type TEXT NOT NULL,
  instruction TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  PRIMARY KEY (environment_id, file)
) STRICT, WITHOUT ROWID;
`;
