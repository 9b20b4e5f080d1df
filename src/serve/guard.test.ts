import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostAllowed, originAllowed, securityHeaders, tokenMatches } from './guard.ts';

describe('the guard of the loopback server', () => {
  it.each([
    ['127.0.0.1:4000', true],
    ['localhost:4000', true],
    ['LOCALHOST:4000', true],
    ['127.0.0.1:4001', false],
    ['127.0.0.1', false],
    ['evil.example:4000', false],
    ['127.0.0.1.evil.example:4000', false],
    ['[::1]:4000', false],
    [undefined, false],
  ])('takes the Host %s: %s', (host, allowed) => {
    expect(hostAllowed(host === undefined ? {} : { host }, 4000)).toBe(allowed);
  });

  it.each([
    [undefined, true],
    ['http://127.0.0.1:4000', true],
    ['http://localhost:4000', true],
    ['https://127.0.0.1:4000', false],
    ['http://127.0.0.1:5173', false],
    ['http://evil.example', false],
    ['null', false],
    ['', false],
  ])('takes the Origin %s: %s', (origin, allowed) => {
    expect(originAllowed(origin === undefined ? {} : { origin }, 4000)).toBe(allowed);
  });

  it('takes the token and nothing else, the empty one never', () => {
    expect(tokenMatches('secret', 'secret')).toBe(true);
    expect(tokenMatches('', '')).toBe(false);
    expect(tokenMatches(null, 'secret')).toBe(false);
    fc.assert(fc.property(fc.string(), (text) => tokenMatches(text, 'secret') === (text === 'secret')));
  });

  it('lets no script run but our own files', () => {
    const policy = securityHeaders(4000)['Content-Security-Policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  });
});
