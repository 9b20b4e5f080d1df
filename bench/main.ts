/** `npm run bench` lists the benches; `npm run bench -- NAME… [--json] [--quick] [--model FILE]` runs them. Exit 0: every bar held. */
import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { trainingDeviceSchema } from '#shared/schema/training.ts';
import { endWithLauncher } from '../src/cli/end-with-launcher.ts';
import type { Bench, Figure } from './lib/figure.ts';
import { startHeartbeat } from './lib/heartbeat.ts';

const folder = new URL('./', import.meta.url);

async function names(): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.ts') && file !== 'main.ts' && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
}

async function load(name: string): Promise<Bench> {
  const module = (await import(new URL(`${name}.ts`, folder).href)) as { default?: Bench };
  if (module.default === undefined) throw new Error(`bench/${name}.ts has no default export`);
  return module.default;
}

function rounded(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function line(figure: Figure): string {
  const against =
    figure.baseline === null || figure.ratio === null
      ? ''
      : `  against ${rounded(figure.baseline)} → ratio ${figure.ratio.toFixed(3)}`;
  const bar = figure.bar === null ? '' : `  (bar: ${figure.bar})`;
  const note = figure.note === undefined ? '' : `  ${figure.note}`;
  const mark = figure.bar === null ? 'info' : figure.ok ? 'ok  ' : 'FAIL';
  return `${mark}  ${figure.figure}: ${rounded(figure.value)} ${figure.unit}${against}${bar}${note}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    model: { type: 'string' },
    device: { type: 'string', default: 'cpu' },
  },
});
const available = await names();
if (positionals.length === 0) {
  const benches = await Promise.all(available.map(load));
  if (values.json) {
    for (const { name, summary } of benches) console.log(JSON.stringify({ bench: name, summary }));
  } else {
    console.log(
      'npm run bench -- NAME… [--json] [--quick] [--seed N] [--model FILE] [--device cpu|cuda|vulkan|metal]\n',
    );
    for (const { name, summary } of benches) console.log(`  ${name.padEnd(14)}${summary}`);
  }
  process.exit(0);
}
const unknown = positionals.filter((name) => !available.includes(name));
if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(', ')}. There are: ${available.join(', ')}.`);
  process.exit(2);
}

endWithLauncher();
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
let failed = 0;
for (const name of positionals) {
  const bench = await load(name);
  const heart = startHeartbeat(name);
  const figures = await bench.run({
    quick: values.quick,
    seed: Number(values.seed),
    model: values.model ?? null,
    device: trainingDeviceSchema.parse(values.device),
    signal: stop.signal,
    say: (text) => {
      console.error(text);
      heart.told(text);
    },
  });
  await heart.stop();
  failed += figures.filter((figure) => !figure.ok).length;
  for (const figure of figures) {
    console.log(values.json ? JSON.stringify({ bench: bench.name, ...figure }) : line(figure));
  }
}
process.exit(failed === 0 && !stop.signal.aborted ? 0 : 1);
