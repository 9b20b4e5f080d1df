/** Is this machine and this installation ready? Each check says what it found and what to do; none changes anything. */
import { existsSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { delimiter, join } from 'node:path';
import { measuredWhileBusy } from '#shared/schema/model.ts';
import type { DoctorCheck } from '#shared/schema/system.ts';
import { toAppError } from '#shared/errors.ts';
import type { RpcServices } from '#core/rpc/base.ts';
import { freeDiskBytes } from '#core/rpc/status.ts';
import { projectFolder } from '#core/rpc/project-folder.ts';

type Finding = Omit<DoctorCheck, 'check'>;

const ok = (detail: string): Finding => ({ status: 'ok', detail, fix: '' });
const warning = (detail: string, fix: string): Finding => ({ status: 'warning', detail, fix });
const error = (detail: string, fix: string): Finding => ({ status: 'error', detail, fix });

const gibibyte = 1024 ** 3;
const gib = (bytes: number) => `${(bytes / gibibyte).toFixed(1)} GiB`;

function node(): Finding {
  const { node: version, electron } = process.versions;
  const where = electron === undefined ? `Node ${version}` : `Node ${version} in Electron ${electron}`;
  if (Number(version.split('.')[0]) >= 24) return ok(where);
  return error(where, 'Node 24 is needed; `npm ci` installs it beside the application.');
}

function store(app: RpcServices): Finding {
  const problem = app.store.check();
  if (problem !== null) {
    return error(
      `${app.store.file}: ${problem}`,
      'Restore a backup, or move the data folder away to start anew.',
    );
  }
  const { episodes, steps, jobs } = app.store.counts();
  return ok(
    `${app.store.file} is whole: ${String(jobs)} jobs, ${String(episodes)} episodes, ${String(steps)} steps`,
  );
}

async function inference(app: RpcServices, signal: AbortSignal | undefined): Promise<Finding> {
  const { device, tookMs } = await app.models.selfTest({ signal });
  return ok(`loads and reads a model (${String(tookMs)} ms); device ${device}`);
}

/** Names of the models whose thread count may be wrong, and which to measure first. */
async function measuredBusy(app: RpcServices): Promise<{ names: string; firstId: string } | null> {
  const busy: { name: string; modelId: string }[] = [];
  for (const model of app.store.models.list()) {
    const calibration = await app.models.calibration(model.modelId);
    if (calibration !== null && measuredWhileBusy(calibration)) busy.push(model);
  }
  const [first] = busy;
  return first === undefined
    ? null
    : { names: busy.map(({ name }) => name).join(', '), firstId: first.modelId };
}

async function threads(app: RpcServices): Promise<Finding> {
  const { threads: chosen } = app.store.catalogue.settings();
  const cores = availableParallelism();
  const words =
    chosen === 0 ? 'threads are measured for each model' : `${String(chosen)} threads set by hand`;
  if (chosen > cores) {
    return warning(
      `${String(cores)} cores, but ${words}`,
      'More threads than cores are slower by far. Set 0 in Settings to measure.',
    );
  }
  const busy = chosen === 0 ? await measuredBusy(app) : null;
  if (busy === null) return ok(`${String(cores)} cores; ${words}`);
  return warning(
    `${String(cores)} cores; measured while the machine was busy: ${busy.names}`,
    `When nothing else runs: daydream models test ${busy.firstId} --recalibrate`,
  );
}

function memory(): Finding {
  const free = freemem();
  if (free >= gibibyte) return ok(`${gib(free)} free`);
  return warning(`${gib(free)} free`, 'Close other programs, or use a smaller model or context.');
}

async function disk(app: RpcServices): Promise<Finding> {
  const free = await freeDiskBytes(app.dataFolder);
  const words = `${gib(free)} free at ${app.dataFolder}`;
  if (free >= 5 * gibibyte) return ok(words);
  const fix = 'Free some space, or choose another folder with --data-dir.';
  return free >= gibibyte / 2 ? warning(words, fix) : error(words, fix);
}

const browsers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};
const browserNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function browser(): Finding {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => browserNames.map((name) => join(folder, name)));
  const found = [...(browsers[process.platform] ?? []), ...onPath].find((file) => existsSync(file));
  if (found !== undefined) return ok(found);
  return warning(
    'no Chromium or Chrome found',
    'Only web environments and the GUI’s own tests need one: install Chromium, or run `npx playwright install chromium`.',
  );
}

function environments(app: RpcServices): Finding {
  const known = app.environments.list().map((provider) => provider.describe().id);
  const failed = known.filter((id) =>
    app.store.catalogue.conformance(id)?.rules.some(({ passed }) => !passed),
  );
  const [away] = app.environments.missing();
  if (away !== undefined) {
    return warning(
      `${String(known.length)} installed; ${away.environmentId} reads its games from ${away.folder}, which cannot be read now`,
      `Bring the folder back, or: daydream environments remove ${away.environmentId}`,
    );
  }
  const unchecked = known.filter((id) => app.store.catalogue.conformance(id) === null);
  if (failed.length > 0) {
    return error(
      `${failed.join(', ')} failed the conformance suite`,
      `Look: daydream environments check ${failed[0] ?? ''}`,
    );
  }
  const rest =
    unchecked.length === 0
      ? 'all checked'
      : `not checked yet here: ${unchecked.join(', ')} (daydream environments check ID)`;
  return ok(`${String(known.length)} installed; ${rest}`);
}

function gui(): Finding {
  const project = projectFolder();
  const index = project === null ? null : join(project, 'out', 'renderer', 'index.html');
  if (index === null || existsSync(index)) return ok('built');
  return ok('not built yet; `daydream serve` builds it on first use');
}

export async function doctor(
  app: RpcServices,
  { signal }: { signal: AbortSignal | undefined },
): Promise<DoctorCheck[]> {
  const checks: [string, () => Finding | Promise<Finding>][] = [
    ['Node', node],
    ['Store', () => store(app)],
    ['Inference library', () => inference(app, signal)],
    ['Threads', () => threads(app)],
    ['Memory', memory],
    ['Disk', () => disk(app)],
    ['Environments', () => environments(app)],
    ['Browser', browser],
    ['GUI', gui],
  ];
  const found: DoctorCheck[] = [];
  for (const [check, look] of checks) {
    try {
      found.push({ check, ...(await look()) });
    } catch (thrown) {
      signal?.throwIfAborted();
      const { message } = toAppError(thrown);
      found.push({ check, ...error(message, 'This check could not be made; the message says why.') });
    }
  }
  return found;
}
