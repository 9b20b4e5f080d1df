/**
 * Wilson's score interval for a share (E. B. Wilson, JASA 22, 1927, eq. 5 ff.). Unlike the normal approximation it stays inside
 * 0…1 and is not empty at 0 or all successes, which is where small evaluations live.
 *
 * @returns both ends as shares; null where nothing was counted
 */
export function wilsonInterval(
  successes: number,
  n: number,
  /** Standard normal quantile; the default is that of 95 %. */
  z = 1.959963984540054,
): { low: number; high: number } | null {
  if (n <= 0) return null;
  const share = successes / n;
  const spread = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / spread;
  const half = (z / spread) * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
