/** The committed files, and every import in them: static, `import type`, re-export, dynamic, `import('…').T`, require. */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** From the repository root, with forward slashes. */
  path: string;
  text: string;
}

export interface Import {
  specifier: string;
  line: number;
  typeOnly: boolean;
}

const builtFolders = new Set([
  '.git',
  'node_modules',
  'out',
  'dist',
  '.cache',
  'test-results',
  'playwright-report',
  'daydream-data',
]);

/** Tracked and new files, without ignored ones. Where git cannot answer (an unpacked archive), all but what is built. */
export function repositoryFiles(): string[] {
  const git = (...args: string[]) => {
    const answer = spawnSync('git', ['ls-files', '-z', ...args], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return answer.status === 0 ? answer.stdout.split('\0').filter((file) => file !== '') : null;
  };
  const listed = git('--cached', '--others', '--exclude-standard');
  if (listed !== null) {
    const deleted = new Set(git('--deleted'));
    return listed.filter((file) => file !== 'node_modules' && !deleted.has(file));
  }
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((file) => !builtFolders.has(file.split('/')[0] ?? '') && !/\.(tsbuildinfo|log)$/.test(file));
}

export function readSources(matches: (file: string) => boolean): SourceFile[] {
  return repositoryFiles()
    .filter(matches)
    .map((file) => ({ path: file, text: readFileSync(path.join(root, file), 'utf8') }));
}

/** Every extension that Node or the bundler runs: a rule that sees only `.ts` is passed by renaming the file. */
export function isCode(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file);
}

export function isTest(file: string): boolean {
  return /\.test\.[cm]?[jt]sx?$/.test(file) || file.startsWith('test/');
}

function parse(file: SourceFile): ts.SourceFile {
  const kind = /x$/.test(file.path) ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kind);
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** `specifier` is `<computed>` where an import names no literal, so that the table cannot be passed by a variable. */
export function importsOf(file: SourceFile): Import[] {
  const source = parse(file);
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const literal = specifier !== undefined && ts.isStringLiteralLike(specifier);
    found.push({ specifier: literal ? specifier.text : '<computed>', line, typeOnly });
  };
  visit(source, (node) => {
    if (ts.isImportDeclaration(node)) {
      add(node, node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      add(node, node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      const literal = ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
      add(node, literal, true);
    } else if (ts.isCallExpression(node)) {
      const dynamic = node.expression.kind === ts.SyntaxKind.ImportKeyword;
      const required = ts.isIdentifier(node.expression) && node.expression.text === 'require';
      if (dynamic || required) add(node, node.arguments[0], false);
    }
  });
  return found;
}

/** Whether this identifier only names a member (`a.console`, `{ console: 1 }`) and reads no variable. */
function namesMember(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  const named =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent);
  return named && parent.name === node;
}

function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

const globals = new Set(['globalThis', 'global', 'window', 'self']);

/** Lines that use the global `console`, also as a whole (`const { log } = console`) or through the global object. */
export function consoleLines(file: SourceFile): number[] {
  const source = parse(file);
  const lines: number[] = [];
  visit(source, (node) => {
    if (!ts.isIdentifier(node) || node.text !== 'console') return;
    const { parent } = node;
    const ofGlobal =
      ts.isPropertyAccessExpression(parent) &&
      ts.isIdentifier(parent.expression) &&
      globals.has(parent.expression.text);
    if (ofGlobal || !namesMember(node)) lines.push(lineOf(source, node));
  });
  return lines;
}

/** The text of a name, whether it is written as an identifier or, in `a['name']`, as a string. */
function nameOf(node: ts.Node): string | null {
  return ts.isIdentifier(node) || ts.isStringLiteralLike(node) ? node.text : null;
}

const isResolve = (node: ts.Node): boolean =>
  ts.isPropertyAccessExpression(node) && node.name.text === 'resolve';

/**
 * Lines that could load a module past the import table: any `getBuiltinModule`, `eval`, `Function(…)`, `_load`, `dlopen`, `binding` or
 * `import x = require(…)`, and `createRequire` put to any other use than `.resolve`, directly or through a constant.
 */
const evaluators: ReadonlySet<string> = new Set(['eval', 'Function', '_load', 'dlopen', 'binding']);

/** Called, constructed, or a member that is: a type or a word of the same name is none. */
function isUsed(node: ts.Node): boolean {
  const { parent } = node;
  const callee = ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
  const use = callee.parent;
  return (ts.isCallExpression(use) || ts.isNewExpression(use)) && use.expression === callee;
}

export function loaderLines(file: SourceFile): number[] {
  const source = parse(file);
  const lines: number[] = [];
  const resolvers = new Set<string>();
  visit(source, (node) => {
    const name = nameOf(node);
    if (name === 'getBuiltinModule' || (name !== null && evaluators.has(name) && isUsed(node))) {
      lines.push(lineOf(source, node));
    }
    if (ts.isExternalModuleReference(node)) lines.push(lineOf(source, node));
    if (name !== 'createRequire') return;
    const call = node.parent;
    if (ts.isImportSpecifier(call) && call.name === node && call.propertyName === undefined) return;
    if (ts.isCallExpression(call) && call.expression === node) {
      if (isResolve(call.parent)) return;
      const { parent } = call;
      if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) {
        resolvers.add(parent.name.text);
        return;
      }
    }
    lines.push(lineOf(source, node));
  });
  visit(source, (node) => {
    if (!ts.isIdentifier(node) || !resolvers.has(node.text) || namesMember(node)) return;
    const declared = ts.isVariableDeclaration(node.parent) && node.parent.name === node;
    if (!declared && !isResolve(node.parent)) lines.push(lineOf(source, node));
  });
  return lines;
}

/** The repository path that an import means, or null for a package or a built-in module. */
export function targetOf(importer: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(importer), specifier);
  const mapped = /^#(shared|core|workers)\/(.+)$/.exec(specifier);
  if (mapped !== null) return `src/${mapped[1]}/${mapped[2]}`;
  const test = /^#test\/(.+)$/.exec(specifier);
  return test === null ? null : `test/${test[1]}`;
}

/** `@scope/name/inner` → `@scope/name`. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
