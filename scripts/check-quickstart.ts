/**
 * `node scripts/check-quickstart.ts FOLDER [quickstart options]`: runs the README's first command into an empty data folder and
 * reads back what it says it wrote: every line against the schema, every checksum, every count.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { manifestSchema, sftRowSchema } from '#shared/schema/dataset.ts';
import type { Manifest } from '#shared/schema/dataset.ts';

const [dataFolder, ...options] = process.argv.slice(2);
if (dataFolder === undefined) {
  console.error('usage: node scripts/check-quickstart.ts FOLDER [quickstart options]');
  process.exit(2);
}
mkdirSync(dataFolder, { recursive: true });
const problems: string[] = [];
const expectThat = (holds: boolean, problem: string) => {
  if (!holds) problems.push(problem);
};

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const run = spawnSync(npm, ['run', '-s', 'quickstart', '--', '--data-dir', dataFolder, ...options], {
  cwd: path.resolve(import.meta.dirname, '..'),
  stdio: ['ignore', 'inherit', 'inherit'],
});
expectThat(run.status === 0, `quickstart ended with ${run.status ?? run.signal ?? 'no status'}`);
expectThat(existsSync(path.join(dataFolder, 'daydream.db')), 'there is no daydream.db');

function checkFile(folder: string, { file, rows, bytes, sha256, part }: Manifest['files'][number]): void {
  const content = readFileSync(path.join(folder, file));
  expectThat(
    content.byteLength === bytes,
    `${file}: ${content.byteLength} bytes, the manifest says ${bytes}`,
  );
  expectThat(createHash('sha256').update(content).digest('hex') === sha256, `${file}: another checksum`);
  const lines = content
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  expectThat(lines.length === rows, `${file}: ${lines.length} lines, the manifest says ${rows}`);
  const kind = { expert_sft: 'il', iwm_sft: 'iwm', reflection_sft: 'sr' }[part];
  for (const [index, line] of lines.entries()) {
    const row = sftRowSchema.safeParse(JSON.parse(line));
    expectThat(row.success && row.data.meta.kind === kind, `${file}:${index + 1}: not a ${kind} row`);
  }
}

const manifests = readdirSync(dataFolder, { recursive: true, encoding: 'utf8' }).filter(
  (file) => path.basename(file) === 'manifest.json',
);
expectThat(manifests.length === 1, `${manifests.length} manifests, expected 1`);
for (const file of manifests) {
  const folder = path.dirname(path.join(dataFolder, file));
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(path.join(dataFolder, file), 'utf8')));
  for (const entry of manifest.files) checkFile(folder, entry);
  const rowsOf = (part: string) => manifest.files.find((entry) => entry.part === part)?.rows ?? 0;
  expectThat(rowsOf('expert_sft') > 0, 'no expert rows');
  expectThat(rowsOf('iwm_sft') > rowsOf('expert_sft'), 'not more world-model rows than expert rows');
  expectThat(manifest.branches.accepted > 0, 'no accepted branches');
  expectThat(
    manifest.branches.rejected === 0,
    `${manifest.branches.rejected} branches did not start where they should`,
  );
  expectThat(existsSync(path.join(folder, 'README.md')), 'no data set card');
}

if (problems.length === 0) console.log('quickstart: what it wrote is what it says');
for (const problem of problems) console.error(`quickstart: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
