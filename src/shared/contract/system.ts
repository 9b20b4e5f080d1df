import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { procedure } from '#shared/contract/base.ts';
import {
  doctorCheckSchema,
  settingsPatchSchema,
  settingsSchema,
  systemStatusSchema,
} from '#shared/schema/system.ts';

export const systemContract = {
  status: procedure.output(systemStatusSchema),
  /** A new status at most once a second while something changes. */
  watch: procedure.output(eventIterator(systemStatusSchema)),
  doctor: procedure.output(z.array(doctorCheckSchema)),
  backup: procedure
    .input(z.object({ file: z.string().min(1) }))
    .output(z.object({ file: z.string(), bytes: z.int() })),
  settings: {
    get: procedure.output(settingsSchema),
    set: procedure.input(settingsPatchSchema).output(settingsSchema),
  },
  licences: procedure.output(
    z.array(z.object({ name: z.string(), version: z.string(), licence: z.string(), kind: z.string() })),
  ),
};
