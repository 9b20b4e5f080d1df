import tseslint from 'typescript-eslint';

/** The import table of docs/design/architecture.md as lint rules. `regex`, never `group`: a group that begins with # matches nothing. */
const forbid = (...patterns) => ({
  'no-restricted-imports': ['error', { patterns: patterns.map(([regex, message]) => ({ regex, message })) }],
});

const electron = ['^electron($|/)', 'electron belongs to src/main and src/preload.'];
const sqlite = ['^better-sqlite3$', 'Only core/store/driver.ts opens SQLite.'];
const llama = ['^node-llama-cpp', 'node-llama-cpp belongs to src/workers/inference.'];
const foreign = ['^koffi($|/)', 'koffi belongs to src/workers/trainer.'];
const playwright = ['^playwright-core', 'playwright-core belongs to core/environments/browser.'];
const websocket = ['^ws$', 'ws belongs to src/serve.'];
const childProcess = ['^(node:)?child_process$', 'node:child_process belongs to core/process.'];
const ui = [
  '^(react|react-dom|@mantine/.*|@tanstack/.*|uplot|wouter)($|/)',
  'UI packages belong to src/renderer.',
];
const hosts = [
  '^#(main|cli|serve|renderer)/|/(main|cli|serve|renderer)/',
  'Hosts are not imported from below.',
];
/** What no worker imports; each has its own native package beside it. */
const worker = [
  electron,
  playwright,
  websocket,
  childProcess,
  ui,
  hosts,
  ['^#core/(?!log)', 'workers import shared and core/log only.'],
];
const dangerous = [electron, sqlite, llama, foreign, playwright, websocket, childProcess];

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'out/',
      'dist/',
      '.cache/',
      'test-results/',
      'playwright-report/',
      'test/fixtures/',
    ],
  },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-invalid-void-type': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/shared/**/*.ts'],
    rules: forbid([
      '^(?!\\.{1,2}/|#shared/|zod$|@orpc/contract$)',
      'src/shared imports shared, zod and @orpc/contract only.',
    ]),
  },
  {
    files: ['src/core/**/*.ts'],
    rules: forbid(...dangerous, ui, hosts, ['^#workers/', 'core talks to workers through core/process.']),
  },
  {
    files: ['src/core/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.name=/^mkdir(Sync)?$/] Property[key.name="recursive"]',
          message: 'It never ends where a parent refuses with ENOENT (/proc): core/make-folder.ts.',
        },
      ],
    },
  },
  {
    files: ['src/core/store/driver.ts'],
    rules: forbid(electron, llama, foreign, playwright, websocket, childProcess, ui, hosts),
  },
  {
    files: ['src/core/process/**/*.ts'],
    rules: forbid(electron, sqlite, llama, foreign, playwright, websocket, ui, hosts),
  },
  {
    files: ['src/core/environments/browser/**/*.ts'],
    rules: forbid(electron, sqlite, llama, foreign, websocket, childProcess, ui, hosts),
  },
  {
    files: ['src/workers/**/*.ts'],
    rules: forbid(...worker, sqlite, llama, foreign),
  },
  {
    files: ['src/workers/inference/**/*.ts'],
    rules: forbid(...worker, sqlite, foreign),
  },
  {
    files: ['src/workers/trainer/**/*.ts'],
    rules: forbid(...worker, sqlite, llama),
  },
  {
    // The reader thread is the store on another thread: read-only, same driver and queries.
    files: ['src/workers/store-reader/**/*.ts'],
    rules: forbid(...dangerous, ui, hosts, [
      '^#core/(?!log|store/)',
      'the reader thread imports core/store and core/log only.',
    ]),
  },
  {
    files: ['src/cli/**/*.ts'],
    rules: forbid(
      ...dangerous,
      ui,
      ['^#core/(?!app\\.ts|ports\\.ts)', 'hosts import core/app and core/ports only.'],
      ['^#(main|renderer)/', 'hosts do not import each other.'],
    ),
  },
  {
    files: ['src/serve/**/*.ts'],
    rules: forbid(electron, sqlite, llama, foreign, playwright, childProcess, ui, [
      '^#core/(?!app\\.ts|ports\\.ts)',
      'hosts import core/app and core/ports only.',
    ]),
  },
  {
    files: ['src/main/**/*.ts'],
    rules: forbid(sqlite, llama, foreign, playwright, websocket, childProcess, ui, [
      '^#core/(?!app\\.ts|ports\\.ts)',
      'hosts import core/app and core/ports only.',
    ]),
  },
  {
    files: ['src/preload/**/*.ts'],
    rules: forbid(['^(?!electron$|#shared/host\\.ts$)', 'preload imports electron and shared/host only.']),
  },
  {
    files: ['src/renderer/**/*.{ts,tsx}'],
    rules: forbid(electron, [
      '^node:|^#(core|workers)/',
      'the renderer imports shared and UI packages only.',
    ]),
  },
  {
    files: [
      'src/cli/**/*.ts',
      'scripts/**/*.ts',
      'bench/**/*.ts',
      'bin/**/*.js',
      'test/**/*.ts',
      'src/serve/main.ts',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.test.{ts,tsx}', 'test/**/*.{ts,tsx}', 'bench/**/*.ts'],
    rules: {
      'no-restricted-imports': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
