/** What the page may not do, whatever it shows: leave its origin, open windows, ask for devices, reach the network. */
import type { Logger } from '#core/ports.ts';
import type { ElectronApi, WebContentsPart } from './electron-api.ts';
import { openLink } from './external-links.ts';
import { isOwnUrl } from './origin.ts';

/** Copy buttons need this one; every other permission is refused. */
const allowedPermission = 'clipboard-sanitized-write';

/** Schemes that stay inside the process; `devtools:` is the inspector's own page. */
const localScheme = /^(app|blob|data|devtools):/u;

export function lockSession({ session }: Pick<ElectronApi, 'session'>, { log }: { log: Logger }): void {
  const { defaultSession } = session;
  defaultSession.setPermissionRequestHandler((_contents, permission, callback, details) => {
    const allowed = permission === allowedPermission && isOwnUrl(details.requestingUrl);
    if (!allowed) log.warn({ permission }, 'permission-denied');
    callback(allowed);
  });
  defaultSession.setPermissionCheckHandler(
    (_contents, permission, requestingOrigin) =>
      permission === allowedPermission && isOwnUrl(requestingOrigin.replace(/\/$/u, '')),
  );
  // The spell checker would download dictionaries.
  defaultSession.setSpellCheckerEnabled(false);
  defaultSession.webRequest.onBeforeRequest(({ url }, callback) => {
    const cancel = !localScheme.test(url);
    if (cancel) log.warn({ url: url.slice(0, 200) }, 'request-blocked');
    callback({ cancel });
  });
}

export function lockContents(
  electron: Pick<ElectronApi, 'shell'>,
  contents: WebContentsPart,
  { log }: { log: Logger },
): void {
  const leave = (event: { preventDefault(): void }, url: string) => {
    if (isOwnUrl(url)) return;
    event.preventDefault();
    void openLink(electron, url).then((opened) => {
      if (!opened) log.warn({ url: url.slice(0, 200) }, 'navigation-denied');
    });
  };
  contents.on('will-navigate', (event) => {
    leave(event, event.url);
  });
  contents.on('will-redirect', (event) => {
    leave(event, event.url);
  });
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
  });
  contents.setWindowOpenHandler(({ url }) => {
    void openLink(electron, url).then((opened) => {
      if (!opened) log.warn({ url: url.slice(0, 200) }, 'window-denied');
    });
    return { action: 'deny' };
  });
}
