/** `npm run check`: typecheck, lint, format, dead exports and unit tests; prints one line each and the output of what failed. */
import { spawnSync } from 'node:child_process';

const steps: [string, string[]][] = [
  ['typecheck', ['tsc', '-b']],
  ['lint', ['eslint', '--max-warnings', '0', '--cache', '--cache-location', '.cache/eslint/', '.']],
  [
    'format',
    ['prettier', '--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.'],
  ],
  ['dead code', ['knip']],
  ['tests', ['vitest', 'run', '--project', 'unit', '--project', 'renderer', '--reporter', 'dot']],
];
const only = process.argv.slice(2);
let failed = 0;
for (const [name, [command, ...args]] of steps) {
  if (only.length > 0 && !only.includes(name)) continue;
  const startedAt = Date.now();
  const result = spawnSync('npx', ['--no-install', command ?? '', ...args], { encoding: 'utf8' });
  const ok = result.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  if (!ok) {
    failed += 1;
    console.log(result.stdout, result.stderr);
  }
}
process.exit(failed === 0 ? 0 : 1);
