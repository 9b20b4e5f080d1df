/** The one origin that this window ever shows. */
export const scheme = 'app';
export const origin = `${scheme}://daydream`;

export function isOwnUrl(url: string): boolean {
  // Not `new URL().origin`: Node says "null" for a scheme that it does not know.
  return url === origin || url.startsWith(`${origin}/`);
}
