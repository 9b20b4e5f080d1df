/**
 * An episode that is begun again leaves its first attempt where it is: the row is renamed and says what replaced it. And a job's
 * stored steps count as progress between crashes, beside its commits.
 */
export const episodeAttempts = `
ALTER TABLE episodes ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;
ALTER TABLE episodes ADD COLUMN replaced_by TEXT;
ALTER TABLE jobs ADD COLUMN idle_crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN crash_steps INTEGER NOT NULL DEFAULT -1;
`;
