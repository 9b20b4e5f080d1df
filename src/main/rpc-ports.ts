/**
 * Hands the page its end of an RPC channel. The page asks through the preload; one end of a new channel goes to the oRPC handler,
 * the other to the window. A reloaded page asks again and its earlier channel is closed, which aborts what that one streamed.
 */
import type * as Electron from 'electron';
import type { SupportedMessagePort } from '@orpc/client/message-port';
import { portMessage } from '#shared/host.ts';
import type { Logger } from '#core/ports.ts';
import type { ElectronApi } from './electron-api.ts';
import { isOwnUrl } from './origin.ts';

/** Only the top frame of our own page, never something that got loaded into it. */
export function isTrusted({ senderFrame }: Pick<Electron.IpcMainEvent, 'senderFrame'>): boolean {
  return senderFrame !== null && senderFrame.parent === null && isOwnUrl(senderFrame.url);
}

export function handOverPorts(
  { ipcMain, MessageChannelMain }: Pick<ElectronApi, 'ipcMain' | 'MessageChannelMain'>,
  { upgrade, log }: { upgrade(port: SupportedMessagePort): void; log: Logger },
): void {
  const open = new Map<number, Electron.MessagePortMain>();
  ipcMain.on(portMessage, (event) => {
    if (!isTrusted(event)) {
      log.warn({ url: event.senderFrame?.url.slice(0, 200) ?? null }, 'port-denied');
      return;
    }
    const { id } = event.sender;
    open.get(id)?.close();
    const { port1, port2 } = new MessageChannelMain();
    open.set(id, port1);
    port1.on('close', () => {
      if (open.get(id) === port1) open.delete(id);
    });
    upgrade(port1);
    port1.start();
    event.sender.postMessage(portMessage, null, [port2]);
  });
}
