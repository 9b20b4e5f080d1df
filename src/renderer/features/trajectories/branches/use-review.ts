import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifications } from '@mantine/notifications';
import type { Reflection } from '#shared/schema/branch.ts';
import { orpc } from '../../../rpc/client.ts';
import { errorRecord } from '../../../rpc/errors.ts';
import type { Decision } from './reflection-card.tsx';

/** Stores a decision and refreshes every view that shows it. The last one can be taken back. */
export function useReview() {
  const queries = useQueryClient();
  return useMutation({
    ...orpc.episodes.reflections.review.mutationOptions(),
    // Not awaited: the next key must not wait until every list has been read again.
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: orpc.episodes.reflections.key() });
      void queries.invalidateQueries({ queryKey: orpc.system.status.key() });
    },
    onError: (error) => {
      notifications.show({
        color: 'red',
        title: 'The decision was not stored',
        message: errorRecord(error).message,
      });
    },
  });
}

export function reviewInput(
  reflection: Pick<Reflection, 'reflectionId'>,
  decision: Decision,
  reason: string,
) {
  return { reflectionId: reflection.reflectionId, decision, reason };
}
