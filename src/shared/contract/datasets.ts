import { z } from 'zod';
import { idPrefixInput, pageInput, pageOf, procedure } from '#shared/contract/base.ts';
import { datasetIdSchema, jobIdSchema } from '#shared/ids.ts';
import { datasetPartSchema, datasetSchema, sftRowSchema } from '#shared/schema/dataset.ts';

const byId = z.object({ datasetId: datasetIdSchema });

const validationSchema = z.object({
  ok: z.boolean(),
  problems: z.array(z.object({ file: z.string(), line: z.int().nullable(), reason: z.string() })),
});

export const datasetsContract = {
  list: procedure.input(pageInput).output(pageOf(datasetSchema)),
  find: procedure.input(idPrefixInput).output(z.array(datasetIdSchema)),
  /** `runRemoved`: the data set stays, and is never exported again. */
  get: procedure.input(byId).output(datasetSchema.extend({ runRemoved: z.boolean() })),
  rows: procedure
    .input(
      byId.extend({
        part: datasetPartSchema,
        offset: z.int().nonnegative().default(0),
        limit: z.int().min(1).max(200).default(50),
      }),
    )
    .output(z.object({ rows: z.array(sftRowSchema), total: z.int() })),
  /** Reads every line and every checksum again. */
  validate: procedure.input(byId).output(validationSchema),
  /** The same of a folder that need not be known here, against its own manifest. */
  validateFolder: procedure.input(z.object({ folder: z.string().min(1) })).output(validationSchema),
  /** Exports the data of a finished Early Experience job again, with the reviews made since. */
  export: procedure
    .input(
      z.object({
        jobId: jobIdSchema,
        folder: z.string().nullable().default(null),
        name: z.string().max(120).default(''),
      }),
    )
    .output(datasetSchema),
  /** Forgets the entry and, when asked, deletes its folder. */
  remove: procedure
    .input(byId.extend({ deleteFiles: z.boolean().default(false) }))
    .output(z.object({ removed: z.boolean() })),
};
