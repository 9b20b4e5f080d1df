/**
 * A link that is opened in a new tab has no token: session storage is a tab's own. So the new tab asks the others, and one that is
 * connected gives its token. A broadcast channel reaches only pages of the same origin, which is this very host. What a tab is given, it keeps as its own
 * for its reloads (`keepToken`).
 */
import { z } from 'zod';

const channelName = 'daydream-token';
const messageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ask') }),
  z.object({ kind: z.literal('token'), token: z.string().min(1) }),
]);
type Message = z.infer<typeof messageSchema>;

/** The token of another tab, or null when none answers in time. */
export function askTabs({ withinMs = 300 } = {}): Promise<string | null> {
  const channel = new BroadcastChannel(channelName);
  return new Promise((resolve) => {
    const finish = (token: string | null): void => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    const timer = setTimeout(() => {
      finish(null);
    }, withinMs);
    channel.addEventListener('message', ({ data }) => {
      const message = messageSchema.safeParse(data).data;
      if (message?.kind === 'token') finish(message.token);
    });
    channel.postMessage({ kind: 'ask' } satisfies Message);
  });
}

/** Answers other tabs for as long as this page lives. @param token of an open connection, null without one */
export function answerTabs(token: () => string | null): { close(): void } {
  const channel = new BroadcastChannel(channelName);
  channel.addEventListener('message', ({ data }) => {
    if (messageSchema.safeParse(data).data?.kind !== 'ask') return;
    const mine = token();
    if (mine !== null) channel.postMessage({ kind: 'token', token: mine } satisfies Message);
  });
  return channel;
}
