import { useQuery } from '@tanstack/react-query';
import { client, orpc, queryClient } from './client.ts';
import { useStream } from './stream.ts';

/** Follows the host's status into the cache. Mounted once, by the frame. */
export function useFollowStatus(): void {
  useStream({
    key: 'system',
    open: (signal) => client.system.watch(undefined, { signal }),
    onMessage: (status) => {
      queryClient.setQueryData(orpc.system.status.queryKey(), status);
    },
  });
}

export function useSystemStatus() {
  return useQuery(orpc.system.status.queryOptions({ staleTime: 30_000 }));
}
