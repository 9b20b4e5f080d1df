/** Keyset cursors: the order values of the last row seen. Opaque to callers; a page never shifts when rows are added before it. */
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';

const cursorSchema = z.tuple([z.string(), z.array(z.number())]);

/** `order` names the list and its sort, so that a cursor of one list is refused by another. */
export function encodeCursor(order: string, values: readonly number[]): string {
  return Buffer.from(JSON.stringify([order, values]), 'utf8').toString('base64url');
}

/** null for the first page. Throws INVALID_INPUT for a text that `encodeCursor` did not make for this order. */
export function decodeCursor(order: string, length: number, cursor: string | null): number[] | null {
  if (cursor === null) return null;
  try {
    const [found, values] = cursorSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    if (found === order && values.length === length) return values;
  } catch {
    // Falls through to the one message for every unreadable cursor.
  }
  throw new AppError({
    code: 'INVALID_INPUT',
    message: 'This page cursor belongs to another list or order. Start again from the first page.',
  });
}

/** Cuts the extra row that says whether there is a next page. */
export function pageFrom<Row, Item>(
  rows: readonly Row[],
  limit: number,
  options: { item: (row: Row) => Item; cursor: (row: Row) => string; total: number | null },
): { items: Item[]; nextCursor: string | null; total: number | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(options.item),
    nextCursor: rows.length > limit && last !== undefined ? options.cursor(last) : null,
    total: options.total,
  };
}
