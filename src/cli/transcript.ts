/** An episode as text, for reading in a terminal. */
import type { Client } from '#shared/contract/index.ts';

type Shown = Awaited<ReturnType<Client['episodes']['get']>>;

function indent(text: string, by: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `${by}${line}`)
    .join('\n');
}

export function outcomeWords({
  status,
  endReason,
  success,
  steps,
  error,
  replacedBy,
}: Shown['episode']): string {
  if (status === 'failed') return `failed (${error?.code ?? 'unknown error'}) after ${String(steps)} steps`;
  if (replacedBy !== null) return `${status} after ${String(steps)} steps; begun again as ${replacedBy}`;
  if (status !== 'finished') return `${status} after ${String(steps)} steps`;
  return `${success ? 'SUCCESS' : 'no success'} after ${String(steps)} steps (${endReason ?? 'ended'})`;
}

export function transcriptHead({ episode }: Pick<Shown, 'episode'>): string {
  return [
    `Episode ${episode.episodeId}  ${episode.environmentId} · ${episode.split} · ${episode.taskType} · seed ${String(episode.seed)}`,
    `Policy: ${episode.policyLabel}`,
    `Task: ${episode.instruction}`,
    indent(episode.initialObservation, '  '),
  ].join('\n');
}

export function transcriptStep(step: Shown['steps'][number]): string {
  const marks = [step.valid ? '' : 'invalid', step.parseStatus === 'ok' ? '' : step.parseStatus]
    .filter((mark) => mark !== '')
    .join(', ');
  const thought = step.thought?.trim() ?? '';
  return [
    ...(thought === '' ? [] : [indent(thought, '  · ')]),
    `> ${step.action}${marks === '' ? '' : `   [${marks}]`}`,
    indent(step.observation, '  '),
  ].join('\n');
}

export function transcriptEnd(episode: Shown['episode']): string {
  return `= ${outcomeWords(episode)}`;
}

export function transcript({ episode, steps }: Shown): string {
  return [transcriptHead({ episode }), ...steps.map(transcriptStep), transcriptEnd(episode)].join('\n');
}
