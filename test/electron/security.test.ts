import { describe, expect, it } from 'vitest';
import { isAllowedLink } from '../../src/main/external-links.ts';
import { isOwnUrl } from '../../src/main/origin.ts';
import { lockContents, lockSession } from '../../src/main/security.ts';
import { FakeWebContents, createFakeElectron, silentLog } from './fake-electron.ts';
import type { WebContentsPart } from '../../src/main/electron-api.ts';

/** Lets the handlers' promises run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('our own origin', () => {
  it.each(['app://daydream', 'app://daydream/', 'app://daydream/runs?x=1'])('is %s', (url) => {
    expect(isOwnUrl(url)).toBe(true);
  });
  it.each([
    'app://daydream.evil/',
    'app://other/',
    'https://daydream/',
    'about:blank',
    'file:///etc/passwd',
    '',
  ])('is not %s', (url) => {
    expect(isOwnUrl(url)).toBe(false);
  });
});

describe('links to the browser', () => {
  it.each([
    'https://arxiv.org/abs/2510.08558',
    'https://github.com/x/y',
    'https://huggingface.co/a',
    'http://127.0.0.1:4100/#token=abc',
  ])('opens %s', (url) => {
    expect(isAllowedLink(url)).toBe(true);
  });
  it.each([
    'http://arxiv.org/',
    'https://arxiv.org.evil.com/',
    'https://evil.com/?arxiv.org',
    'https://arxiv.org:8443/',
    'https://user@arxiv.org/',
    'http://127.0.0.1.evil.com/',
    'http://localhost/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'ms-settings:',
    'smb://host/share',
    'not a link',
  ])('refuses %s', (url) => {
    expect(isAllowedLink(url)).toBe(false);
  });
});

describe('the session', () => {
  function locked() {
    const electron = createFakeElectron();
    const log = silentLog();
    lockSession(electron.api, { log });
    return { ...electron, log };
  }
  function ask(electron: ReturnType<typeof locked>, permission: string, requestingUrl: string): boolean {
    let answer = true;
    electron.state.permissionRequest?.({} as never, permission as never, (granted) => (answer = granted), {
      requestingUrl,
      isMainFrame: true,
    } as never);
    return answer;
  }

  it.each([
    'media',
    'geolocation',
    'notifications',
    'usb',
    'clipboard-read',
    'openExternal',
    'fullscreen',
    'unknown',
  ])('denies %s to our own page', (permission) => {
    const electron = locked();
    expect(ask(electron, permission, 'app://daydream/')).toBe(false);
    expect(electron.state.permissionCheck?.(null, permission as never, 'app://daydream', {} as never)).toBe(
      false,
    );
    expect(electron.log.events.map(({ event }) => event)).toContain('permission-denied');
  });

  it('lets our own page, and no other, write to the clipboard', () => {
    const electron = locked();
    expect(ask(electron, 'clipboard-sanitized-write', 'app://daydream/runs')).toBe(true);
    expect(ask(electron, 'clipboard-sanitized-write', 'https://evil.com/')).toBe(false);
    const check = electron.state.permissionCheck;
    expect(check?.(null, 'clipboard-sanitized-write', 'app://daydream/', {} as never)).toBe(true);
    expect(check?.(null, 'clipboard-sanitized-write', 'https://evil.com', {} as never)).toBe(false);
  });

  it('blocks every request that would leave the process and logs it', () => {
    const electron = locked();
    for (const url of [
      'https://example.com/',
      'http://127.0.0.1:1/',
      'ws://127.0.0.1:1/',
      'file:///etc/passwd',
      'ftp://x/',
    ]) {
      expect(electron.state.beforeRequest?.(url), url).toBe(true);
    }
    for (const url of [
      'app://daydream/a.js',
      'blob:app://daydream/1',
      'data:image/png;base64,',
      'devtools://devtools/x',
    ]) {
      expect(electron.state.beforeRequest?.(url), url).toBe(false);
    }
    expect(electron.log.events.filter(({ event }) => event === 'request-blocked')).toHaveLength(5);
  });

  it('turns off the spell checker, which downloads dictionaries', () => {
    expect(locked().record.spellChecker).toBe(false);
  });
});

describe('the page', () => {
  function locked() {
    const electron = createFakeElectron();
    const log = silentLog();
    const contents = new FakeWebContents();
    lockContents(electron.api, contents as FakeWebContents & WebContentsPart, { log });
    return { electron, log, contents };
  }
  function navigate(
    contents: FakeWebContents,
    event: 'will-navigate' | 'will-redirect',
    url: string,
  ): boolean {
    let prevented = false;
    contents.emit(event, { url, preventDefault: () => (prevented = true) });
    return prevented;
  }

  it('stays on its origin', async () => {
    const { electron, contents, log } = locked();
    expect(navigate(contents, 'will-navigate', 'app://daydream/runs')).toBe(false);
    expect(navigate(contents, 'will-navigate', 'https://evil.com/')).toBe(true);
    expect(navigate(contents, 'will-redirect', 'file:///etc/passwd')).toBe(true);
    await settle();
    expect(electron.record.external).toEqual([]);
    expect(log.events.filter(({ event }) => event === 'navigation-denied')).toHaveLength(2);
  });

  it('opens a listed link in the browser instead of navigating to it', async () => {
    const { electron, contents } = locked();
    expect(navigate(contents, 'will-navigate', 'https://arxiv.org/abs/2511.03773')).toBe(true);
    await settle();
    expect(electron.record.external).toEqual(['https://arxiv.org/abs/2511.03773']);
  });

  it('opens no window', async () => {
    const { electron, contents, log } = locked();
    expect(contents.openHandler?.({ url: 'https://evil.com/' })).toEqual({ action: 'deny' });
    expect(contents.openHandler?.({ url: 'https://github.com/x' })).toEqual({ action: 'deny' });
    expect(contents.openHandler?.({ url: 'app://daydream/runs' })).toEqual({ action: 'deny' });
    await settle();
    expect(electron.record.external).toEqual(['https://github.com/x']);
    expect(log.events.filter(({ event }) => event === 'window-denied')).toHaveLength(2);
  });

  it('attaches no webview', () => {
    const { contents } = locked();
    let prevented = false;
    contents.emit('will-attach-webview', { preventDefault: () => (prevented = true) });
    expect(prevented).toBe(true);
  });
});
