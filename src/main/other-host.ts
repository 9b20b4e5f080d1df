/** Another process is the host of this data folder: says so, and opens what it serves in the browser. */
import type { AppError } from '#shared/errors.ts';
import type { ElectronApi } from './electron-api.ts';
import { openLink } from './external-links.ts';

export interface HostAddress {
  port: number;
  token: string;
  pid: number;
}

/** @returns what the user chose */
export async function offerOtherHost(
  electron: Pick<ElectronApi, 'dialog' | 'shell'>,
  { error, address }: { error: AppError; address: HostAddress | null },
): Promise<'opened' | 'quit'> {
  const buttons = address === null ? ['Quit'] : ['Open in the Browser', 'Quit'];
  const { response } = await electron.dialog.showMessageBox({
    type: 'info',
    message: 'Daydream already runs on this data folder.',
    detail:
      address === null
        ? error.message
        : `Process ${address.pid} owns it. Its jobs go on; you can attach to it from here, or end it and start this window again.`,
    buttons,
    defaultId: 0,
    cancelId: buttons.length - 1,
  });
  if (address === null || response !== 0) return 'quit';
  const opened = await openLink(electron, `http://127.0.0.1:${address.port}/#token=${address.token}`);
  return opened ? 'opened' : 'quit';
}
