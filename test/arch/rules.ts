/**
 * The import table of docs/design/architecture.md as code. eslint.config.js says the same for the editor; this one also sees
 * resolved paths, cycles and what a lint comment switches off. Test files may import what they test.
 */
import {
  consoleLines,
  importsOf,
  isCode,
  isTest,
  loaderLines,
  packageOf,
  targetOf,
} from '#test/arch/source.ts';
import type { Import, SourceFile } from '#test/arch/source.ts';

export interface Violation {
  rule: string;
  file: string;
  line: number;
  message: string;
}

/** One owner for each dangerous package. */
const owners: Record<string, (file: string) => boolean> = {
  electron: (file) => /^src\/(main|preload)\//.test(file),
  'better-sqlite3': (file) => file === 'src/core/store/driver.ts',
  'node-llama-cpp': (file) => file.startsWith('src/workers/inference/'),
  koffi: (file) => file.startsWith('src/workers/trainer/'),
  'playwright-core': (file) => file.startsWith('src/core/environments/browser/'),
  ws: (file) => file.startsWith('src/serve/'),
  'node:child_process': (file) => file.startsWith('src/core/process/'),
  child_process: () => false,
  'node:sqlite': () => false,
};

/** What every worker may import from outside: no network, no process, no evaluation of text. */
const workerPackage = /^(zod|pure-rand|node:(crypto|fs|module|os|path|url|worker_threads))$/;
/** What one of them may import besides. */
const workerPackages: Record<string, readonly string[]> = {
  inference: ['node-llama-cpp', '@huggingface/jinja'],
  trainer: ['koffi'],
};

/** What core may import from outside besides node:*; the dangerous ones among them have one owner each. A new one has a record in docs/adr. */
const corePackage = /^(zod|yaml|pino|pure-rand|@orpc\/(contract|server)|better-sqlite3|playwright-core)$/;

/** What each host may import from outside besides node:*. */
const hostPackages: Record<string, RegExp> = {
  main: /^(electron|zod|@orpc\/(client|server))$/,
  cli: /^(commander|cli-progress|zod|yaml|@orpc\/(client|server))$/,
  // vite: a clone has no built window yet (renderer-build.ts).
  serve: /^(ws|vite|@orpc\/server)$/,
};
const folders: readonly string[] = [
  ...Object.keys(hostPackages),
  'core',
  'preload',
  'renderer',
  'shared',
  'workers',
];

const uiPackage =
  /^(react|react-dom|@mantine\/.+|@tanstack\/.+|@tabler\/.+|@fontsource.*|uplot|wouter|@orpc\/tanstack-query)$/;
const rendererPackage = /^(zod|diff|yaml|@orpc\/(client|contract|tanstack-query))$/;

/** `core`, `renderer`, … or null outside src. */
function folderOf(file: string): string | null {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? null;
}
/** `store` for src/core/store/x.ts; null for a file directly in src/core. */
function coreAreaOf(file: string): string | null {
  return /^src\/core\/([^/]+)\//.exec(file)?.[1] ?? null;
}
function featureOf(file: string): string | null {
  return /^src\/renderer\/features\/([^/]+)\//.exec(file)?.[1] ?? null;
}

type Check = (file: string, target: string | null, specifier: string) => string | null;

const rules: Record<string, Check> = {
  'src has no other folders': (file) =>
    !file.startsWith('src/') || folders.includes(folderOf(file) ?? '')
      ? null
      : `src holds ${folders.join(', ')} and nothing else: what is outside of them obeys no rule`,

  'shared runs anywhere': (file, target, specifier) =>
    folderOf(file) !== 'shared' ||
    (target === null ? ['zod', '@orpc/contract'].includes(specifier) : folderOf(target) === 'shared')
      ? null
      : 'src/shared imports shared, zod and @orpc/contract only',

  'core is host-neutral': (file, target, specifier) => {
    if (folderOf(file) !== 'core') return null;
    if (target !== null) {
      return ['shared', 'core'].includes(folderOf(target) ?? '')
        ? null
        : 'core imports shared and core, never a host, the renderer or a worker';
    }
    const name = packageOf(specifier);
    return specifier.startsWith('node:') || corePackage.test(name)
      ? null
      : `${name} is not a package of core`;
  },

  'core areas meet at index.ts or port.ts': (file, target) => {
    if (folderOf(file) !== 'core' || target === null || folderOf(target) !== 'core') return null;
    if (target === 'src/core/app.ts') return 'app.ts imports the areas, not the reverse';
    const to = coreAreaOf(target);
    if (to === null || to === coreAreaOf(file)) return null;
    return /^src\/core\/[^/]+\/(index|port)\.ts$/.test(target)
      ? null
      : `import core/${to} through its index.ts or port.ts`;
  },

  'workers stand alone': (file, target, specifier) => {
    if (folderOf(file) !== 'workers') return null;
    const own = file.split('/').slice(0, 3).join('/');
    if (target === null) {
      const name = packageOf(specifier);
      const known = workerPackages[own.slice('src/workers/'.length)] ?? [];
      return workerPackage.test(name) || known.includes(name) ? null : `${name} is not a package of ${own}`;
    }
    const reader = own === 'src/workers/store-reader' && target.startsWith('src/core/store/');
    const allowed =
      folderOf(target) === 'shared' ||
      target.startsWith(`${own}/`) ||
      // The line to the host is the same for every process.
      target.startsWith('src/workers/channel/') ||
      /^src\/core\/log(\.ts|\/)/.test(target) ||
      reader;
    return allowed ? null : 'workers import shared, core/log, the channel and their own folder only';
  },

  'hosts are thin': (file, target, specifier) => {
    const host = folderOf(file);
    if (host === null || !['main', 'cli', 'serve'].includes(host)) return null;
    if (target === null) {
      const name = packageOf(specifier);
      return specifier.startsWith('node:') || hostPackages[host]?.test(name) === true
        ? null
        : `${name} is not a package of src/${host}`;
    }
    const allowed =
      folderOf(target) === 'shared' ||
      folderOf(target) === host ||
      target === 'src/core/app.ts' ||
      target === 'src/core/ports.ts' ||
      // Every host lets others attach by WebSocket (docs/adr/0003): the window and the commands start the same server.
      (host !== 'serve' && target === 'src/serve/index.ts');
    return allowed ? null : 'hosts import shared, core/app and core/ports only, and not each other';
  },

  'preload is only a bridge': (file, target, specifier) =>
    folderOf(file) !== 'preload' || specifier === 'electron' || target === 'src/shared/host.ts'
      ? null
      : 'preload imports electron and shared/host only',

  'renderer has no Node': (file, target, specifier) => {
    if (folderOf(file) !== 'renderer') return null;
    if (target !== null) {
      return ['shared', 'renderer'].includes(folderOf(target) ?? '')
        ? null
        : 'the renderer imports shared and itself only';
    }
    const name = packageOf(specifier);
    return uiPackage.test(name) || rendererPackage.test(name)
      ? null
      : `${name} is not a package of the renderer`;
  },

  'features do not know each other': (file, target) => {
    if (folderOf(file) !== 'renderer' || target === null || folderOf(target) !== 'renderer') return null;
    const to = featureOf(target);
    const from = featureOf(file);
    if (from === null) {
      const low = /^src\/renderer\/(ui|charts|rpc)\//.test(file);
      return low && !/^src\/renderer\/(ui|charts|rpc)\//.test(target)
        ? 'ui, charts and rpc do not import what is built on them'
        : null;
    }
    if (to === from || /^src\/renderer\/(ui|charts|rpc)\//.test(target)) return null;
    return 'a feature imports its own folder, ui, charts and rpc only';
  },

  'one owner for each dangerous package': (file, _target, specifier) => {
    const owner = owners[packageOf(specifier)];
    return owner === undefined || owner(file) ? null : `${packageOf(specifier)} has another owner`;
  },

  'imports name their target': (_file, _target, specifier) =>
    specifier === '<computed>' ? 'an import of a variable cannot be checked' : null,
};

function tableViolations(file: SourceFile, found: Import): Violation[] {
  const target = targetOf(file.path, found.specifier);
  return Object.entries(rules).flatMap(([rule, check]) => {
    const message = check(file.path, target, found.specifier);
    return message === null
      ? []
      : [{ rule, file: file.path, line: found.line, message: `${found.specifier}: ${message}` }];
  });
}

export const maximumLines = 500;

/** A port is a contract and a leaf; the rest of an area is one node, and so is each file directly in src/core. */
function areaNode(file: string): string | null {
  const area = coreAreaOf(file);
  if (area === null) return /^src\/core\/[^/]+$/.test(file) ? file.slice('src/core/'.length) : null;
  return file === `src/core/${area}/port.ts` ? `${area}/port` : area;
}

/** Each cycle once, as `a → b → a`. */
export function areaCycles(files: readonly SourceFile[]): Violation[] {
  const edges = new Map<string, Map<string, { file: string; line: number }>>();
  for (const file of files) {
    const from = areaNode(file.path);
    if (from === null || isTest(file.path)) continue;
    for (const found of importsOf(file)) {
      const to = areaNode(targetOf(file.path, found.specifier) ?? '');
      if (to === null || to === from) continue;
      const out = edges.get(from) ?? new Map<string, { file: string; line: number }>();
      if (!out.has(to)) out.set(to, { file: file.path, line: found.line });
      edges.set(from, out);
    }
  }
  const seen = new Set<string>();
  const violations: Violation[] = [];
  const walk = (node: string, trail: string[]): void => {
    const at = trail.indexOf(node);
    if (at >= 0) {
      const cycle = trail.slice(at);
      const key = cycle.toSorted().join(' ');
      const edge = edges.get(cycle.at(-1) ?? '')?.get(node);
      if (!seen.has(key) && edge !== undefined) {
        seen.add(key);
        violations.push({
          rule: 'no cycles between core areas',
          file: edge.file,
          line: edge.line,
          message: [...cycle, node].join(' → '),
        });
      }
      return;
    }
    for (const to of edges.get(node)?.keys() ?? []) walk(to, [...trail, node]);
  };
  for (const node of edges.keys()) walk(node, []);
  return violations;
}

/** One idea in several files that know each other: a field holds fields, and a graph asks its device, which holds its tensors. */
const oneIdea = [
  /^src\/renderer\/ui\/form\/field-(list|view|unions)\.tsx$/,
  /^src\/workers\/trainer\/(graph|device|composed)\.ts$/,
];

/** Each file that closes a circle of imports, types included, as `a → b → a`. */
export function fileCycles(files: readonly SourceFile[]): Violation[] {
  const imports = new Map(
    files.map((file) => [
      file.path,
      importsOf(file).map(({ specifier, line }) => ({ to: targetOf(file.path, specifier), line })),
    ]),
  );
  const violations: Violation[] = [];
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    for (const { to, line } of imports.get(file) ?? []) {
      if (to === null || done.has(to)) continue;
      const at = [...trail, file].indexOf(to);
      if (at < 0) walk(to, [...trail, file]);
      else {
        const circle = [...trail, file].slice(at);
        if (oneIdea.some((idea) => circle.every((one) => idea.test(one)))) continue;
        const message = [...circle, to].join(' → ');
        violations.push({ rule: 'no cycles between files', file, line, message });
      }
    }
    done.add(file);
  };
  for (const { path } of files) if (!done.has(path)) walk(path, []);
  return violations;
}

/** Everything wrong with these files. */
export function violationsOf(files: readonly SourceFile[]): Violation[] {
  const code = files.filter((file) => isCode(file.path));
  const long = code
    .filter((file) => file.text.split('\n').length - 1 > maximumLines)
    .map((file) => ({
      rule: 'a file is one idea',
      file: file.path,
      line: maximumLines,
      message: `more than ${maximumLines} lines`,
    }));
  const source = code.filter((file) => file.path.startsWith('src/') && !isTest(file.path));
  const noisy = source
    .filter((file) => !/^src\/(cli\/|serve\/main\.ts$)/.test(file.path))
    .flatMap((file) =>
      consoleLines(file).map((line) => ({
        rule: 'no console outside the command line',
        file: file.path,
        line,
        message: 'log events with fields through the Logger port',
      })),
    );
  const loaders = source.flatMap((file) =>
    loaderLines(file).map((line) => ({
      rule: 'nothing is loaded past the table',
      file: file.path,
      line,
      message:
        'import it: createRequire may only `.resolve`; what loads or evaluates otherwise has no use here',
    })),
  );
  const table = source.flatMap((file) => importsOf(file).flatMap((found) => tableViolations(file, found)));
  return [...table, ...areaCycles(source), ...fileCycles(source), ...loaders, ...noisy, ...long];
}

export const ruleNames = [
  ...Object.keys(rules),
  'no cycles between core areas',
  'no cycles between files',
  'nothing is loaded past the table',
  'no console outside the command line',
  'a file is one idea',
];
