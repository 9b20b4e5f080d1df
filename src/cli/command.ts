/** One command = open a session, do the work, say the result, end with a code that means something. */
import type { Command } from 'commander';
import type { Session, SessionOptions } from './session.ts';
import { openSession } from './session.ts';

export interface GlobalOptions {
  json: boolean;
  dataDir?: string;
  seed?: number;
}

export interface Work {
  session: Session;
  client: Session['client'];
  json: boolean;
  seed: number | undefined;
  /** As given; undefined for the default folder. */
  dataDir: string | undefined;
  /** Aborts at the first Ctrl-C; a command that follows a job handles it itself. */
  signal: AbortSignal;
}

export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}

/** @returns the exit code */
export async function withSession(
  command: Command,
  work: (context: Work) => Promise<number | undefined>,
  options: Pick<SessionOptions, 'runsJobs'> = {},
): Promise<void> {
  const { json, dataDir, seed } = globalOptions(command);
  const session = await openSession({ dataDir, ...options });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  try {
    process.exitCode =
      (await work({ session, client: session.client, json, seed, dataDir, signal: stop.signal })) ?? 0;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    await session.close();
  }
}
