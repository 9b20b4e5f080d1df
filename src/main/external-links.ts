/** What a click may open in the user's browser: papers, code and models over https, and the host on this machine. */
import type { ElectronApi } from './electron-api.ts';

const allowedHosts: ReadonlySet<string> = new Set([
  'arxiv.org',
  'github.com',
  'huggingface.co',
  'www.apache.org',
]);

export function isAllowedLink(address: string): boolean {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return false;
  }
  if (url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return url.port === '' && allowedHosts.has(url.hostname);
  return url.protocol === 'http:' && url.hostname === '127.0.0.1';
}

/** @returns whether it was opened */
export async function openLink({ shell }: Pick<ElectronApi, 'shell'>, address: string): Promise<boolean> {
  if (!isAllowedLink(address)) return false;
  await shell.openExternal(address);
  return true;
}
