import { oc } from '@orpc/contract';
import { z } from 'zod';
import { errorRecordSchema } from '#shared/errors.ts';

/** Every procedure can fail with one typed error that carries the AppError record. */
export const procedure = oc.errors({ APP: { status: 400, data: errorRecordSchema } });

/** Keyset page: pass `nextCursor` back as `cursor`; null means the end. Cursors are opaque. */
export const pageInput = z.object({
  cursor: z.string().nullable().default(null),
  limit: z.int().min(1).max(500).default(100),
});
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable(), total: z.int().nullable() });
}

/** Ids that begin so, in order; a caller that needs exactly one tells from two on that the prefix is too short. */
export const idPrefixInput = z.object({
  prefix: z.string().min(1).max(200),
  limit: z.int().min(1).max(50).default(10),
});
