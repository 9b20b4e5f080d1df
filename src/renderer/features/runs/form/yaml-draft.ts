/** The YAML text is the draft; the form edits it through its document, so comments and order survive. Pure. */
import { isMap, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { Run } from '#shared/schema/run.ts';

export type Draft =
  | { ok: true; document: Document.Parsed; kind: Run['kind'] | null }
  | { ok: false; message: string; line: number | null };

export function readDraft(text: string): Draft {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) {
    return {
      ok: false,
      message: error.message.split('\n')[0] ?? error.message,
      line: error.linePos?.[0].line ?? null,
    };
  }
  if (!isMap(document.contents)) {
    return { ok: false, message: 'The text is no mapping: it starts with `kind: …`.', line: 1 };
  }
  const kind: unknown = document.get('kind');
  return { ok: true, document, kind: kind === 'rollout' || kind === 'early-experience' ? kind : null };
}

/** The value at a path as plain data; undefined where absent. */
export function valueAt(document: Document.Parsed, path: readonly string[]): unknown {
  const node: unknown = document.getIn(path, true);
  if (node === undefined || node === null) return node;
  return typeof node === 'object' && 'toJS' in node && typeof node.toJS === 'function'
    ? (node.toJS as (doc: Document) => unknown)(document)
    : node;
}

/** The text with one value changed. `undefined` takes the key away, so that its default holds again. */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  if (value === undefined) {
    document.deleteIn(path);
    pruneEmpty(document, path.slice(0, -1));
  } else {
    // A scalar in the way of a deeper path (`reflection.generator: self`) gives way to a mapping.
    for (let depth = 1; depth < path.length; depth += 1) {
      const parent = path.slice(0, depth);
      if (!isMap(document.getIn(parent, true))) document.setIn(parent, document.createNode({}));
    }
    const plain = value !== null && typeof value === 'object';
    document.setIn(path, plain ? document.createNode(value) : value);
  }
  return document.toString({ lineWidth: 0 });
}

function pruneEmpty(document: Document.Parsed, path: readonly string[]): void {
  if (path.length === 0) return;
  const node: unknown = document.getIn(path, true);
  if (isMap(node) && node.items.length === 0) {
    document.deleteIn(path);
    pruneEmpty(document, path.slice(0, -1));
  }
}
