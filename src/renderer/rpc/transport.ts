/** The two roads to the host: a MessagePort from Electron's main process, or a WebSocket to the host that served this page. */
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';
import { portMessage } from '#shared/host.ts';
import type { ElectronBridge } from '#shared/host.ts';
import { rpcSocket } from '#shared/rpc-socket.ts';
import { Refused } from './connection.ts';
import type { Transport } from './connection.ts';

declare global {
  interface Window {
    daydream?: ElectronBridge;
  }
}

const tokenKey = 'daydream-token';

/**
 * The token comes once in the fragment (never sent, never logged), moves to this tab's session storage, and leaves the address
 * bar, so that a copied link or a screenshot does not carry it.
 */
export function takeToken(): string | null {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  const token = fragment.get('token');
  if (token !== null) {
    keepToken(token);
    const { pathname, search } = window.location;
    window.history.replaceState(window.history.state, '', pathname + search);
    return token;
  }
  return sessionStorage.getItem(tokenKey);
}

/** For this tab's next attempts and its reloads. */
export function keepToken(token: string): void {
  sessionStorage.setItem(tokenKey, token);
}

/** A socket whose token is still asked for. */
export function laterSocketTransport(token: Promise<string | null>): Transport {
  let inner: Transport | null = null;
  let isClosed = false;
  const ready = token.then((known) => {
    if (isClosed) throw new Error('given up');
    return (inner = socketTransport(known));
  });
  return {
    link: {
      call: async (path, input, options) => (await ready).link.call(path, input, options),
    },
    opened: ready.then(({ opened }) => opened),
    closed: ready.then(
      ({ closed }) => closed,
      () => undefined,
    ),
    close: () => {
      isClosed = true;
      inner?.close();
    },
  };
}

export function socketTransport(token: string | null): Transport {
  const { protocol, host } = window.location;
  const url = new URL(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/rpc`);
  if (token !== null) url.searchParams.set('token', token);
  const socket = new WebSocket(url);
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      resolve();
    });
    socket.addEventListener('close', () => {
      // A browser does not tell why: a host that serves its page and no socket has another token, e.g. since it was started again.
      void fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
        ({ ok }) => {
          reject(ok ? new Refused('The host does not take this token.') : new Error('The host is not well.'));
        },
        () => {
          reject(new Error('The host is gone.'));
        },
      );
    });
  });
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => {
      // One that never opened is told by `opened`, with its reason.
      void opened.then(resolve, resolve);
    });
  });
  return {
    link: new SocketLink({ websocket: rpcSocket(socket) }),
    opened,
    closed,
    close: () => {
      socket.close();
    },
  };
}

/** The port arrives as a window message; until then calls wait for `opened`. */
export function portTransport(bridge: ElectronBridge): Transport {
  let port: MessagePort | null = null;
  let link: PortLink<Record<never, never>> | null = null;
  const gone = Promise.withResolvers<undefined>();
  const waiting = new AbortController();
  const opened = new Promise<void>((resolve) => {
    function receive(event: MessageEvent): void {
      const [received] = event.ports;
      if (event.source !== window || event.data !== portMessage || received === undefined) return;
      waiting.abort();
      port = received;
      link = new PortLink({ port: received });
      received.addEventListener('close', () => {
        gone.resolve(undefined);
      });
      received.start();
      resolve();
    }
    window.addEventListener('message', receive, { signal: waiting.signal });
    bridge.requestPort();
  });
  return {
    link: {
      call: (path, input, options) =>
        link === null ? Promise.reject(new Error('no port yet')) : link.call(path, input, options),
    },
    opened,
    closed: gone.promise,
    close: () => {
      // A port that comes late belongs to the next attempt.
      waiting.abort();
      port?.close();
      gone.resolve(undefined);
    },
  };
}
