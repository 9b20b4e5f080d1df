/** The line to the host: child IPC under Node, `parentPort` in Electron's utility process. */
export interface HostPort {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

interface ElectronParentPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

export function openHostPort(): HostPort {
  const parentPort = (process as NodeJS.Process & { parentPort?: ElectronParentPort }).parentPort;
  if (parentPort !== undefined) {
    return {
      send: (message) => {
        parentPort.postMessage(message);
      },
      onMessage: (listener) => {
        parentPort.on('message', ({ data }) => {
          listener(data);
        });
      },
    };
  }
  // Without a host there is nobody to answer: never outlive it. `process.exit` would wait for the native call that is under way
  // (a step of a large model takes minutes); nothing here is the only copy of anything.
  // Ctrl-C in a terminal reaches every process of its group: it is the host that pauses, and it still needs what runs here.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  return {
    send: (message) => {
      if (process.connected) process.send?.(message);
    },
    onMessage: (listener) => {
      process.on('message', listener);
    },
  };
}
