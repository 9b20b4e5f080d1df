import { Link } from 'wouter';
import type { Episode } from '#shared/schema/episode.ts';
import { PartialNote } from '../../ui/states.tsx';

/** Says what an episode that did not end by its own rules is worth; nothing for one that did. */
export function PartialEpisode({ episode }: { episode: Episode }) {
  if (episode.status === 'abandoned')
    return (
      <PartialNote>
        {episode.error === null || episode.error.code === 'CANCELLED'
          ? 'Abandoned: the host ended or the run was cancelled in the middle.'
          : `Abandoned: ${episode.error.code} broke it off.`}{' '}
        The steps up to here are kept and shown; they are no result and never trained on.
        {episode.replacedBy !== null && (
          <>
            {' '}
            <Link href={`/trajectories/${encodeURIComponent(episode.replacedBy)}`}>
              It was begun again from its start.
            </Link>
          </>
        )}
      </PartialNote>
    );
  if (episode.status === 'failed')
    return (
      <PartialNote>
        {`Stopped by ${episode.error?.code ?? 'an infrastructure error'}${episode.retries > 0 ? ` after ${String(episode.retries)} retries` : ''}. It says nothing about the policy: the steps are kept, and left out of scores and training. ${episode.error?.message ?? ''}`}
      </PartialNote>
    );
  return null;
}
