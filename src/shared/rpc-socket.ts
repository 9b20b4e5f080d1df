/**
 * A WebSocket as oRPC gets it. On one that closes, oRPC throws its own words, and an abort, which it sends where nobody catches, as an
 * unhandled rejection: it may be closed before its `close` event has told oRPC.
 */
import { AppError } from './errors.ts';

interface Socket {
  readonly readyState: number;
  send(message: string): void;
  addEventListener(...listener: never[]): void;
  removeEventListener(...listener: never[]): void;
}

const connecting = 0;
const open = 1;

/** An abort to a host that is gone needs no message. @throws AppError HOST_UNREACHABLE from `send`, for any other message */
export function rpcSocket<Own extends Socket>(socket: Own) {
  return {
    addEventListener: socket.addEventListener.bind(socket) as Own['addEventListener'],
    removeEventListener: socket.removeEventListener.bind(socket) as Own['removeEventListener'],
    /** A closed one is called open, so that `send` decides. */
    get readyState() {
      return socket.readyState === connecting ? connecting : open;
    },
    send(message: string): void {
      if (socket.readyState === open) socket.send(message);
      else if (typeof message !== 'string' || !isAbort(message)) throw connectionClosed();
    },
  };
}

/** Messages of oRPC's peer protocol carry their type in `t`; 4 is the abort signal. */
function isAbort(message: string): boolean {
  return message.length < 100 && (JSON.parse(message) as { t?: number }).t === 4;
}

function connectionClosed(): AppError {
  return new AppError({
    code: 'HOST_UNREACHABLE',
    message:
      'The connection to the host is closed, so this was not sent. What is stored is kept. Try again when the host is back.',
  });
}
