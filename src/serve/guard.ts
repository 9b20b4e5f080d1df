/**
 * Who may talk to the loopback server. A page of another site can make the browser send requests to 127.0.0.1, and a name that it
 * owns can be pointed there (DNS rebinding): so the Host must be ours, an Origin, where the browser sends one, must be ours, and
 * the WebSocket needs the token, which only this user's files and the printed link hold.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

function ownHosts(port: number): string[] {
  return [`127.0.0.1:${String(port)}`, `localhost:${String(port)}`];
}

export function hostAllowed(headers: IncomingHttpHeaders, port: number): boolean {
  return headers.host !== undefined && ownHosts(port).includes(headers.host.toLowerCase());
}

/** Programs send no Origin; browsers always send one with a WebSocket. */
export function originAllowed(headers: IncomingHttpHeaders, port: number): boolean {
  if (headers.origin === undefined) return true;
  return ownHosts(port).some((host) => headers.origin === `http://${host}`);
}

/** In constant time, whatever the length of what was sent. */
export function tokenMatches(sent: string | null, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(sent ?? ''), digest(token)) && sent !== null && sent !== '';
}

/** Only our own files may run or be fetched; inline styles are Mantine's. */
export function securityHeaders(port: number): Record<string, string> {
  const sockets = ownHosts(port).map((host) => `ws://${host}`);
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "font-src 'self' data:",
      "img-src 'self' data: blob:",
      `connect-src 'self' ${sockets.join(' ')}`,
      "worker-src 'self' blob:",
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
  };
}
