/** Numbers and times as people read them. Every function is pure; times are milliseconds since 1970, durations milliseconds. */

const integers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const dateTime = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const clockTime = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

export function formatInteger(value: number): string {
  return integers.format(value);
}

/** Three significant digits, no exponent between 0.001 and a million: `0.0123`, `4.56`, `1,230`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 100) return integers.format(value);
  if (size < 0.001) return value.toExponential(1);
  return Number(value.toPrecision(3)).toString();
}

/** 12,300 → `12.3 k`, for places where the exact number is a hover away. */
export function formatCompact(value: number): string {
  const size = Math.abs(value);
  if (size < 10_000) return integers.format(value);
  const [divisor, unit] = size >= 1e9 ? [1e9, 'G'] : size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
  return `${Number((value / divisor).toPrecision(3)).toString()} ${unit}`;
}

/** In the units of the command line, so that both say the same number of the same thing. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(value) >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? 'B'}`;
}

/** `340 ms`, `4.2 s`, `3 min 12 s`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ${pad(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${String(hours)} h ${pad(minutes % 60)} min`;
  return `${String(Math.floor(hours / 24))} d ${String(hours % 24)} h`;
}

/** An estimate has no seconds: `about 9 minutes`. */
export function formatAbout(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return 'less than a minute';
  if (minutes < 1.5) return 'about a minute';
  if (minutes < 90) return `about ${String(Math.round(minutes))} minutes`;
  const hours = minutes / 60;
  if (hours < 48) return `about ${String(Number(hours.toPrecision(2)))} hours`;
  return `about ${String(Math.round(hours / 24))} days`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

export function formatDateTime(at: number): string {
  return dateTime.format(at);
}

export function formatClock(at: number): string {
  return clockTime.format(at);
}

/** `just now`, `4 min ago`, `3 h ago`, `yesterday`, then the date. */
export function formatAgo(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 10) return 'just now';
  if (seconds < 60) return `${String(seconds)} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${String(hours)} h ago`;
  if (hours < 48) return 'yesterday';
  return dateTime.format(at).slice(0, 11).replace(',', '').trim();
}

export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const percent = (100 * part) / whole;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** `4.2 steps/s`, and per minute where a second is too short: `12 episodes/min`. */
export function formatRate(perSecond: number, unit: string): string {
  if (!Number.isFinite(perSecond) || perSecond <= 0) return '–';
  return perSecond >= 0.5
    ? `${formatNumber(perSecond)} ${unit}/s`
    : `${formatNumber(perSecond * 60)} ${unit}/min`;
}

/** A hash in a list: enough to tell two apart. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : id.slice(0, 8);
}

/** With a capital at its start. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const devices: Readonly<Record<string, string>> = {
  '': 'CPU',
  cpu: 'CPU',
  cuda: 'CUDA',
  metal: 'Metal',
  vulkan: 'Vulkan',
};

/** The device of the inference process as its makers write it; it has no word of its own before the first model is loaded. */
export function formatDevice(device: string): string {
  return devices[device] ?? device;
}

/** Each name once, with how often where it is there more than once: `small ×2, large`. */
export function formatNames(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${String(count)}`)).join(', ');
}
