/** One command = open a session, do the work, say the result, end with a code that means something. */
import type { Command } from 'commander';
import { AppError } from '#shared/errors.ts';
import { exitCodes } from './exit-codes.ts';
import { say } from './output.ts';
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

/** Ctrl-C, a polite end, and a terminal or connection that is gone: all put the work down. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may arrive several times: from the terminal, from npm and from the launcher that passes it on. */
export const oneKeyPressMs = 300;

/** @returns the exit code */
export async function withSession(
  command: Command,
  work: (context: Work) => Promise<number | undefined>,
  options: Pick<SessionOptions, 'runsJobs' | 'onlyLooks'> = {},
): Promise<void> {
  const { json, dataDir, seed } = globalOptions(command);
  const stop = new AbortController();
  let opened = false;
  const release = () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
  const onSignal = () => {
    if (!opened) {
      say(
        'Stopped while the data folder was being opened. Nothing new was started, and nothing stored is lost.',
      );
      process.exit(exitCodes.cancelled);
    }
    if (stop.signal.aborted) return;
    stop.abort();
    // A second Ctrl-C is whatever the command makes of it, else the end of the process.
    setTimeout(release, oneKeyPressMs).unref();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  const session = await openSession({ dataDir, ...options }).finally(() => (opened = true));
  let again = false;
  try {
    process.exitCode =
      (await work({ session, client: session.client, json, seed, dataDir, signal: stop.signal })) ?? 0;
  } catch (thrown) {
    // What a call to a host throws that is gone looks like a cancellation, and nobody cancelled.
    if (!session.lost.aborted || stop.signal.aborted) throw thrown;
    if (options.onlyLooks !== true) throw hostEnded(thrown);
    again = true;
  } finally {
    release();
    await session.close();
  }
  if (again) await withSession(command, work, options);
}

function hostEnded(cause: unknown): AppError {
  return new AppError({
    code: 'HOST_UNREACHABLE',
    message:
      'The host of this data folder ended while it was asked. What was stored is kept; whether this was still done is not known: look, and give the command again.',
    cause,
  });
}

/** As `withSession`, for a command that shows what is stored and has nothing to show without a store. */
export function lookInto(
  command: Command,
  work: (context: Work) => Promise<number | undefined>,
): Promise<void> {
  return withSession(command, work, { onlyLooks: true });
}
