/**
 * Counts connections that left this machine, at the socket: Node publishes every client socket on a diagnostics channel, so
 * nothing in this process can connect past the meter. Loopback and local pipes do not count. Offline means 0.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const channel = 'net.client.socket';

function leavesTheMachine(address: string | undefined): boolean {
  if (address === undefined || address === '') return false;
  const plain = address.replace(/^::ffff:/, '');
  return plain !== '::1' && !plain.startsWith('127.');
}

export class OutgoingMeter {
  #count = 0;
  readonly #onSocket = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.once('connect', () => {
      if (leavesTheMachine(socket.remoteAddress)) this.#count += 1;
    });
  };

  constructor() {
    subscribe(channel, this.#onSocket);
  }

  get count(): number {
    return this.#count;
  }

  dispose(): void {
    unsubscribe(channel, this.#onSocket);
  }
}
