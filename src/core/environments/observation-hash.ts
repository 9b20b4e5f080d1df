/**
 * The one definition of `observationHash`: what a state shows (text and admissible list, in order) as SHA-256. Environments,
 * the episode loop and the branching proof all use it, or a proof would compare two different things.
 */
import { createHash } from 'node:crypto';
import { sha256Schema } from '#shared/ids.ts';
import type { Sha256 } from '#shared/ids.ts';
import type { Observation } from '#shared/schema/environment.ts';

export function observationHash(observation: Observation): Sha256 {
  const shown = JSON.stringify([observation.text, observation.admissible]);
  return sha256Schema.parse(createHash('sha256').update(shown).digest('hex'));
}
