/**
 * A command that `bin/use-node.js` or `npm start` started ends when its launcher does, also when that was killed and could pass no
 * signal on. The channel that Node gives a child for messages carries none here: the operating system closes it with the process
 * at its other end, on every system, and that is all that is waited for.
 */
const endAtOnceAfterMs = 5_000;

/** Does then what SIGTERM would; what still unwinds after five seconds is cut short as by a second Ctrl-C. */
export function endWithLauncher(): void {
  if (process.channel === undefined || process.channel === null) return;
  process.once('disconnect', () => {
    terminate('SIGTERM');
    setTimeout(() => terminate('SIGINT'), endAtOnceAfterMs).unref();
  });
  // A listener holds the channel open, and the channel the process: a finished command must end all the same.
  process.channel.unref();
}

/** `process.kill` with our own id would end us on Windows without asking the listeners. */
function terminate(signal: 'SIGTERM' | 'SIGINT'): void {
  if (process.listenerCount(signal) > 0) process.emit(signal, signal);
  else process.exit(signal === 'SIGTERM' ? 143 : 130);
}
