/** What a command says: results on stdout (text or JSON), progress and complaints on stderr. */
export interface Column<Row> {
  title: string;
  value(row: Row): string | number | null;
}

/** `--json` prints the value itself; otherwise `text` is asked for lines. */
export function printResult(json: boolean, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text()}\n`);
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Numbers to the right, words to the left; an empty list says so in words instead of printing a bare header. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map((column) => column.value(row)));
  const texts = cells.map((line) =>
    line.map((cell) => (typeof cell === 'number' ? number(cell) : (cell ?? '–'))),
  );
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...texts.map((line) => (line[index] ?? '').length)),
  );
  const numeric = columns.map((_, index) => cells.every((line) => typeof line[index] !== 'string'));
  const show = (line: readonly string[]) =>
    line
      .map((cell, index) =>
        numeric[index] === true ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [show(columns.map(({ title }) => title)), ...texts.map(show)].join('\n');
}

export function number(value: number): string {
  return Number.isInteger(value)
    ? value.toLocaleString('en')
    : value.toLocaleString('en', { maximumFractionDigits: 2 });
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let scaled = value;
  let unit = 0;
  while (scaled >= 1024 && unit < units.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return `${scaled.toLocaleString('en', { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit] ?? ''}`;
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

/** Time left, as exact as such an estimate is. */
export function roughly(ms: number): string {
  if (ms < 1000) return 'less than a second';
  const step = ms < 20_000 ? 1000 : ms < 120_000 ? 5000 : ms < 600_000 ? 30_000 : 60_000;
  return `about ${duration(Math.round(ms / step) * step).replace(/ 0 (?:s|min)$/u, '')}`;
}

export function when(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace('T', ' ').slice(0, 19);
}
