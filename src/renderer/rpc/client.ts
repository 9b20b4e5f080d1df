import { createORPCClient } from '@orpc/client';
import { createTanstackQueryUtils } from '@orpc/tanstack-query';
import { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { Client } from '#shared/contract/index.ts';
import { Connection } from './connection.ts';
import type { ConnectionState, Transport } from './connection.ts';
import { isRetryable } from './errors.ts';
import { answerTabs, askTabs } from './tabs.ts';
import { keepToken, laterSocketTransport, portTransport, socketTransport, takeToken } from './transport.ts';

const bridge = window.daydream;
// The link of a host that was started again may be opened in this very tab.
if (bridge === undefined) takeToken();

export const connection = new Connection({
  open: () => (bridge === undefined ? openSocket() : portTransport(bridge)),
});
if (bridge === undefined) answerTabs(() => (connection.state === 'open' ? takeToken() : null));

function openSocket(): Transport {
  const token = takeToken();
  if (token !== null) return socketTransport(token);
  return laterSocketTransport(
    askTabs().then((found) => {
      if (found !== null) keepToken(found);
      return found;
    }),
  );
}

/** Typed calls: `client.jobs.pause({ jobId })`. */
export const client: Client = createORPCClient(connection);

/** TanStack Query options of the same calls: `useQuery(orpc.jobs.list.queryOptions({ input }))`. */
export const orpc = createTanstackQueryUtils(client);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 2 && isRetryable(error),
      retryDelay: (attempt) => Math.min(2000, 300 * 2 ** attempt),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

// What was read over a lost connection may have changed meanwhile.
let wasLost = false;
connection.subscribe(() => {
  if (connection.state === 'open' && wasLost) void queryClient.invalidateQueries();
  wasLost = connection.state !== 'open';
});

export function useConnectionState(): ConnectionState {
  return useSyncExternalStore(connection.subscribe, () => connection.state);
}
