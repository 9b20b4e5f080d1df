/** What a host (Electron, serve, CLI, a test) gives to `createApp`. The core never asks the platform itself. */

/** Milliseconds since the epoch. Time is an input, so tests can hold it. */
export interface Clock {
  now(): number;
}

export interface Logger {
  debug(fields: Record<string, unknown>, event: string): void;
  info(fields: Record<string, unknown>, event: string): void;
  warn(fields: Record<string, unknown>, event: string): void;
  error(fields: Record<string, unknown>, event: string): void;
}

/** A child that speaks structured-clone messages: a forked Node, or Electron's utility process. */
export interface ChildHandle {
  readonly pid: number | undefined;
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onExit(listener: (exit: { code: number | null; signal: string | null }) => void): void;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export interface ProcessSpawner {
  spawn(entry: 'inference' | 'trainer', options: { env?: Record<string, string> }): ChildHandle;
}

export interface HostPorts {
  readonly kind: 'electron' | 'serve' | 'cli';
  readonly dataFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawner: ProcessSpawner;
  readonly version: string;
  /** Called when a root job ends; the desktop shows a notification, others ignore it. */
  onJobEnded?(job: { title: string; state: string; activeMs: number }): void;
  /** Something that whoever sits at the host should know at once; the log has it too. */
  onTrouble?(message: string): void;
}

export interface Disposable {
  dispose(): Promise<void>;
}
