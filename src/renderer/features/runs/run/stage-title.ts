import type { Job } from '#shared/schema/job.ts';
import { sentence } from '../../../ui/format.ts';

/** A stage is named by its key; a title is a person's words, hyphens included. */
export function stageTitle({ stage, title }: Job): string {
  return sentence(stage?.replaceAll('-', ' ') ?? title);
}
