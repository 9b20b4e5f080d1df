/** Pages over lists that are computed and never change under the reader (tasks of a generated world): the cursor is an offset. */
import { AppError } from '#shared/errors.ts';
import type { Page } from '#core/store/port.ts';

export function offsetOf(cursor: string | null): number {
  if (cursor === null) return 0;
  const offset = /^\d{1,9}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (Number.isSafeInteger(offset)) return offset;
  throw new AppError({
    code: 'INVALID_INPUT',
    message: 'cursor: not one that this list gave out. Start again without it.',
  });
}

export function pageFrom<Item>(items: Item[], offset: number, total: number): Page<Item> {
  const next = offset + items.length;
  return { items, total, nextCursor: items.length > 0 && next < total ? String(next) : null };
}
