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

export function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file) || file.startsWith('test/');
}

function parse(file: SourceFile): ts.SourceFile {
  const kind = file.path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, false, kind);
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

/** Lines that use the global `console`. */
export function consoleLines(file: SourceFile): number[] {
  const source = parse(file);
  const lines: number[] = [];
  visit(source, (node) => {
    if (
      ts.isPropertyAccessExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'console'
    ) {
      lines.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
    }
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
