import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireHostLock, openStore } from '#core/store/index.ts';
import { makeEpisode, silentLog } from '#test/helpers/store-records.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const entry = new URL('./main.ts', import.meta.url).pathname;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daydream-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function start(args: readonly string[], data = 'data'): ChildProcess {
  return spawn(process.execPath, [entry, '--data-dir', join(folder, data), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(args: readonly string[], data = 'data'): Promise<Ended> {
  return end(start(args, data));
}

async function end(child: ChildProcess): Promise<Ended> {
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => (ended.stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (ended.stderr += String(chunk)));
  [ended.code] = (await once(child, 'close')) as [number | null];
  return ended;
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n}') || text.includes('Daydream is at')) return text;
  }
  throw new Error('the process ended without a line');
}

async function startServe(data: string): Promise<{ child: ChildProcess; url: string }> {
  const child = start(['serve', '--no-gui', '--json'], data);
  const { url } = JSON.parse(await firstLine(child)) as { url: string };
  return { child, url };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
  const closed = once(child, 'close') as Promise<[number | null]>;
  child.kill(signal);
  return (await closed)[0];
}

describe.skipIf(process.platform !== 'linux')('a data folder that cannot be made', () => {
  it.each(['/proc/daydream', '/proc/1/daydream/data', '/dev/null/data'])(
    '%s is refused in words at once',
    async (place) => {
      const child = spawn(process.execPath, [entry, '--data-dir', place, 'models'], { timeout: 20_000 });
      let stderr = '';
      child.stderr.on('data', (chunk) => (stderr += String(chunk)));
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      expect({ code, signal }).toEqual({ code: 2, signal: null });
      expect(stderr).toContain(`FILE_INVALID: The folder ${place} cannot be made`);
      expect(stderr).toContain('Choose another one');
    },
  );
});

describe('exit codes', () => {
  it.each([
    [['--help'], 0],
    [['run', '--help'], 0],
    [['--version'], 0],
    [['no-such-command'], 2],
    [['run'], 2],
    [['rollout'], 2],
    [['jobs', 'list', '--state', 'sleeping'], 2],
    [['--seed', 'x', 'jobs'], 2],
    [['environments', 'check', 'NOT AN ID'], 2],
    [['models', 'add'], 2],
    [['jobs', 'show', 'nothing'], 3],
    [['episodes', 'show', 'nothing'], 3],
    [['run', 'no-such-preset'], 3],
    [['run', './no-such.yaml'], 3],
    [['models', 'inspect', '/no/such/file.gguf'], 3],
    [['models', 'test', 'no-such-model'], 3],
    [['run', 'rollout-quick', '--set', 'policy.model=broken.gguf'], 4],
    [['environments', 'check', 'no-such'], 3],
    [['environments', 'remove', 'no-such'], 3],
    [['environments', 'remove', 'household'], 1],
    [['environments', 'add', 'alfworld', '--folder', 'no-such'], 3],
    [['environments', 'add', 'alfworld', '--folder', '.'], 5],
    [['environments', 'export', 'household', '--out', '.'], 2],
    [['environments', 'export', 'household', '--out', 'new', '--type', 'cook'], 2],
    [['run', '.'], 2],
    [['run', 'rollout-quick', '--set', 'environment.id=no-such'], 2],
    [['rollout', '--model', 'scripted:expert', '--environment', 'no-such'], 3],
    [['rollout', '--model', '/no/such/file.gguf'], 3],
    [['rollout', '--model', 'no-such-model'], 3],
    [['run', 'quickstart', '--modle', 'x'], 2],
    [['--seed', '3000000000', 'jobs'], 2],
    [['rollout', '--model', 'scripted:expert', '--temperature', 'nan'], 2],
    [['jobs', 'show', ''], 2],
    [['jobs', 'cancel', 'nothing'], 3],
    [['episodes', '--job', 'nothing'], 3],
    [['datasets', 'validate', 'nothing'], 3],
    [['models', 'add', '--http', 'notaurl', '--name', 'x'], 2],
    [['models', 'add', 'broken.gguf'], 4],
    [['backup', 'broken.gguf'], 2],
    [['jobs'], 0],
  ] as [string[], number][])('daydream %j ends with %i', async (args, code) => {
    await mkdir(join(folder, 'data'), { recursive: true });
    await writeFile(join(folder, 'broken.gguf'), 'GGUF, but not really');
    const ended = await run(args);
    expect(ended, ended.stderr).toMatchObject({ code });
    if (code !== 0) expect(ended.stderr.length).toBeGreaterThan(10);
    expect(ended.stderr).not.toMatch(/at .*\.ts:\d+/);
  });

  it.each([
    [['run', '.'], 'is a folder; a run is a preset or a YAML file'],
    [['run', 'quickstart', '--modle', 'x'], '--set policy.model=FILE.gguf'],
    [['--seed', '3000000000', 'jobs'], 'from 0 to 2147483647'],
    [['rollout', '--model', 'scripted:expert', '--temperature', 'nan'], 'A number from 0'],
    [['jobs', 'show', ''], 'The id is empty'],
    [['episodes', '--job', 'nothing'], 'There is no job nothing'],
    [['models', 'add', '--http', 'notaurl', '--name', 'x'], 'with http:// or https://, not "notaurl"'],
  ] as [string[], string][])('daydream %j says “%s”', async (args, words) => {
    expect((await run(args)).stderr).toContain(words);
  });

  it.each([['--data-dir', ''], ['--data-dir= ']])(
    'is 2 for an empty data folder, which is not the current one: %j %j',
    async (...given) => {
      const here = await mkdtemp(join(folder, 'empty-'));
      for (const command of ['jobs', 'serve']) {
        const child = spawn(process.execPath, [entry, ...given, command], { cwd: here, timeout: 20_000 });
        const ended = await end(child);
        expect(ended, ended.stderr).toMatchObject({ code: 2 });
        expect(ended.stderr).toContain('--data-dir is empty');
        expect(await readdir(here)).toEqual([]);
      }
    },
  );

  it.each([['jobs'], ['episodes'], ['datasets']])(
    'is 3 for %s of a folder that is not there',
    async (what) => {
      const ended = await run([what], 'mistyped');
      expect(ended, ended.stderr).toMatchObject({ code: 3, stdout: '' });
      expect(ended.stderr).toContain(`${join(folder, 'mistyped')} does not exist`);
      expect(await readdir(folder)).not.toContain('mistyped');
    },
  );

  it('is 0 for a model that is called as its server calls it', async () => {
    await run(['models', 'add', '--http', 'http://127.0.0.1:9/v1', '--name', 'far-away']);
    const ended = await run(['models', 'inspect', 'far-away', '--json']);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.stdout)).toMatchObject({ model: { remoteName: 'far-away' } });
  });

  it('is 2 for a run file that is wrong, with its line', async () => {
    const file = join(folder, 'wrong.yaml');
    await writeFile(file, 'kind: rollout\nenvironment: { id: household }\npolicy:\n  modle: x\n');
    const ended = await run(['run', file]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/wrong\.yaml, line 4: policy\.modle: .*model/);
    await writeFile(file, 'kind: rollout\npolicy: [a\n');
    for (const sets of [[], ['--set', 'seed=2']]) {
      const broken = await run(['run', file, ...sets]);
      expect(broken.code).toBe(2);
      expect(broken.stderr).toMatch(/wrong\.yaml, line \d+: /);
    }
  });

  it('is 2 for a value that no preset takes, with what it takes', async () => {
    const { code, stderr } = await run(['run', 'quickstart', '--set', 'demonstrations.source=foo']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /--set demonstrations\.source=foo: demonstrations\.source: .*one of `solver`, `recorded`, `import`/,
    );
  });
});

describe('--json', () => {
  it.each([
    [['doctor']],
    [['environments']],
    [['presets']],
    [['models']],
    [['jobs']],
    [['episodes']],
    [['datasets']],
    [['run', 'rollout-quick', '--check', '--set', 'policy.model=scripted:random']],
  ])('prints one JSON document for %j', async (args) => {
    const { stdout, stderr } = await run(['--json', ...args]);
    expect(() => JSON.parse(stdout) as unknown, stderr).not.toThrow();
  });

  it('repeats with --check the command that was given, and no more', async () => {
    const set = ['--set', 'policy.model=scripted:random', '--set', 'name=two words'];
    const { stdout } = await run(['run', 'rollout-household', '--check', ...set, '--seed', '4']);
    expect(stdout).toMatch(
      /^The same: daydream run rollout-household --set policy\.model=scripted:random --set 'name=two words' --seed 4$/m,
    );
  });

  it('names with --check where the run deviates from the paper, and nothing where it does not', async () => {
    const set = ['--set', 'policy.model=scripted:random', '--set', 'branching.sr.k=4'];
    const collection = await run(['run', 'early-experience-small', '--check', ...set]);
    expect(collection.stdout).toMatch(
      /^deviation from the paper: sr-k: 4 alternatives a reflection compares with/m,
    );
    expect(collection.stdout).toMatch(/^deviation from the paper: constant-k: /m);
    const rollout = await run(['run', 'rollout-quick', '--check', '--set', 'policy.model=scripted:random']);
    expect(rollout.stdout).not.toContain('deviation');
  });

  it('prints errors as JSON too', async () => {
    const { stdout } = await run(['jobs', 'show', 'nothing', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });
});

describe('episodes --status', () => {
  it('lists those of one state, and what was cut has neither outcome nor reward', async () => {
    await mkdir(join(folder, 'states'));
    const store = openStore({
      file: join(folder, 'states', 'daydream.db'),
      clock: { now: () => 1 },
      log: silentLog,
    });
    store.episodes.begin(makeEpisode(1));
    store.episodes.abandonRunning({ at: 9 });
    store.episodes.begin(makeEpisode(2));
    store.episodes.finish(makeEpisode(2, { status: 'finished', endReason: 'terminated', success: true }));
    store.episodes.begin(makeEpisode(3));
    store.close();
    for (const [status, id] of [
      ['abandoned', 'episode-1'],
      ['finished', 'episode-2'],
      ['running', 'episode-3'],
    ] as const) {
      const { stdout } = await run(['episodes', '--status', status, '--json'], 'states');
      expect(JSON.parse(stdout)).toMatchObject({ total: 1, items: [{ episodeId: id, status }] });
    }
    const table = await run(['episodes', 'list', '--status', 'abandoned'], 'states');
    expect(table.stdout).toMatch(/^episode-1 +rollout +abandoned +0 +0 +Small model/m);
    const none = await run(['episodes', '--status', 'failed'], 'states');
    expect(none).toMatchObject({ code: 0 });
    expect(`${none.stdout}${none.stderr}`).toContain('No episodes match.');
    const wrong = await run(['episodes', '--status', 'lost'], 'states');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Allowed choices are running, finished, abandoned, failed');
  });
});

describe('a run', () => {
  it('acts, stores and reports, and is repeated by its seed', async () => {
    const args = [
      'rollout',
      '--model',
      'scripted:random',
      '--tasks',
      '3',
      '--max-steps',
      '4',
      '--json',
      '--seed',
      '5',
    ];
    const first = await run(args, 'rollout');
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ state: 'succeeded', seed: 5, result: { episodes: 3 } });
    const again = await run(args, 'rollout');
    expect(JSON.parse(again.stdout)).toMatchObject({ result: { reused: 3 } });
    const listed = await run(['episodes', '--json'], 'rollout');
    const { items } = JSON.parse(listed.stdout) as { items: { episodeId: string }[] };
    expect(items).toHaveLength(3);
    const shown = await run(['episodes', 'show', items[0]?.episodeId ?? ''], 'rollout');
    expect(shown.stdout).toMatch(/Task: .*\n/);
    expect(shown.stdout).toMatch(/^> /m);
  });

  it('ends with tables: success with its interval, ends, what was reused, where to look', async () => {
    const args = ['rollout', '--model', 'scripted:random', '--tasks', '3', '--max-steps', '4'];
    const first = await run(args, 'tables');
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toMatch(/0\/3 +0\.0 % +0\.0 to 56\.1 %/);
    expect(first.stdout).toMatch(/^step-limit +3 +limits\.maxSteps was reached$/m);
    expect(first.stdout).not.toContain('reused');
    expect(first.stdout).not.toContain('{');
    const [, jobId = ''] = /daydream episodes --job (\S+) --data-dir/.exec(first.stderr) ?? [];
    const listed = await run(['episodes', '--job', jobId, '--json'], 'tables');
    expect(JSON.parse(listed.stdout)).toMatchObject({ total: 3 });
    const again = await run(args, 'tables');
    expect(again.stdout).toContain(`3 of 3 episodes were reused: finished before (job ${jobId})`);
    expect(again.stdout).toMatch(/New ones: another --seed/);
    expect(again.stderr).toContain('3 of 3 episodes were finished before');
    expect(again.stderr).toContain(`daydream episodes --job ${jobId}`);
    const more = await run([...args, '--rollouts', '2', '--json'], 'tables');
    const { jobId: moreId, ...ended } = JSON.parse(more.stdout) as { jobId: string };
    expect(ended).toMatchObject({ result: { episodes: 6, reused: 3 } });
    const byPrefix = await run(['episodes', '--job', moreId.slice(0, 8), '--json'], 'tables');
    const { items } = JSON.parse(byPrefix.stdout) as { items: { episodeId: string }[] };
    expect(items).toHaveLength(3);
    const transcript = await run(['episodes', 'show', items[0]?.episodeId.slice(0, 12) ?? ''], 'tables');
    expect(transcript.stdout).toMatch(/^> /m);
    const shown = await run(['jobs', 'show', jobId.slice(0, 8)], 'tables');
    expect(shown.stdout).toMatch(/^step-limit +3/m);
    for (const verb of ['cancel', 'pause']) {
      const late = await run(['jobs', verb, jobId.slice(0, 8)], 'tables');
      expect(late).toMatchObject({ code: 1, stdout: '' });
      expect(late.stderr).toMatch(
        /CONFLICT: .* had already ended at [\d: -]+: succeeded\. There was nothing to/,
      );
    }
  }, 120_000);

  it('ends Early Experience with what was collected', async () => {
    const sets = [
      'policy.model=scripted:expert',
      'branching.sr.enabled=false',
      'reflection.enabled=false',
      'environment.tasks=2',
    ];
    const args = ['run', 'quickstart', ...sets.flatMap((set) => ['--set', set])];
    const ended = await run(args, 'collected');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/^ +expert demonstrations +2$/m);
    expect(ended.stdout).toMatch(/^Files: .+/m);
    // The folder itself, and from another data folder too.
    const [, files = ''] = /^Files: (.+)$/mu.exec(ended.stdout) ?? [];
    for (const named of [files, join(files, 'manifest.json')]) {
      const whole = await run(['datasets', 'validate', named], 'elsewhere');
      expect(whole, whole.stderr).toMatchObject({ code: 0 });
    }
    await appendFile(join(files, 'iwm_sft.jsonl'), '{"id": 1}\n');
    const damaged = await run(['datasets', 'validate', files], 'elsewhere');
    expect(damaged.code).toBe(1);
    expect(damaged.stdout).toMatch(/^iwm_sft\.jsonl:\d+: /m);
    expect(damaged.stdout).toContain('iwm_sft.jsonl: the checksum differs');
    expect(await run(['datasets', 'validate', './nowhere'], 'elsewhere')).toMatchObject({ code: 3 });
    expect(ended.stdout).not.toContain('{');
    expect(ended.stderr).toMatch(/^ {2}daydream jobs show \S+ --data-dir /m);
  }, 60_000);

  it('changes what --set says', async () => {
    const { stdout, stderr } = await run(
      [
        'run',
        'rollout-quick',
        '--json',
        '--set',
        'policy.model=scripted:expert',
        '--set',
        'environment.tasks=2',
      ],
      'set',
    );
    expect(JSON.parse(stdout), stderr).toMatchObject({
      spec: { environment: { tasks: 2 } },
      result: { successes: 2 },
    });
  });
});

describe('one host for each data folder', () => {
  it('lets commands attach to a running serve, and refuses a second host', async () => {
    const { child, url } = await startServe('served');
    try {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{20,}$/);
      const mode = (await stat(join(folder, 'served', 'host.json'))).mode & 0o777;
      expect(mode).toBe(0o600);
      const attached = await run(
        ['rollout', '--model', 'scripted:expert', '--tasks', '2', '--json'],
        'served',
      );
      expect(JSON.parse(attached.stdout), attached.stderr).toMatchObject({ state: 'succeeded' });
      const jobs = await run(['jobs', '--json'], 'served');
      expect(JSON.parse(jobs.stdout)).toHaveLength(1);
      const second = await run(['serve', '--no-gui'], 'served');
      expect(second.code).toBe(6);
      expect(second.stderr).toContain(url);
    } finally {
      expect(await stop(child)).toBe(0);
    }
    expect((await run(['jobs', '--json'], 'served')).code).toBe(0);
  });

  it('waits for a host that is starting, and says so', async () => {
    const data = join(folder, 'starting');
    const lock = acquireHostLock(data);
    const child = start(['jobs', '--json'], 'starting');
    // A busy machine takes its time until the command waits at all.
    child.stderr?.once('data', () => setTimeout(() => lock.release(), 2_000));
    const { code, stdout, stderr } = await end(child);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual([]);
    expect(stderr.match(/Waiting for Daydream \(process \d+\)/gu)).toHaveLength(1);
  });

  it('starts again on the folder of a host that was killed', async () => {
    const { child } = await startServe('killed');
    await stop(child, 'SIGKILL');
    const after = await run(['jobs', '--json'], 'killed');
    expect(after.code, after.stderr).toBe(0);
    expect(JSON.parse(after.stdout)).toEqual([]);
  });

  it('calls a job of a killed host interrupted, in JSON too, and does not touch it', async () => {
    const args = ['rollout', '--model', 'scripted:random', '--tasks', '100', '--environment', 'household'];
    const child = start([...args, '--json'], 'cut');
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    while (!/ [1-9]\d*\/100 episodes/.test(stderr)) await once(child.stderr ?? child, 'data');
    await stop(child, 'SIGKILL');
    const listed = await run(['jobs', '--json'], 'cut');
    const [job] = JSON.parse(listed.stdout) as { jobId: string }[];
    expect(job).toMatchObject({ state: 'interrupted' });
    const shown = await run(['jobs', 'show', job?.jobId ?? '', '--json'], 'cut');
    expect(JSON.parse(shown.stdout)).toMatchObject({ job: { state: 'interrupted' } });
    const words = await run(['jobs', 'show', job?.jobId ?? ''], 'cut');
    expect(words.stdout).not.toMatch(/ 0 ms /);
    const text = await run(['jobs', '--state', 'running'], 'cut');
    expect(text.stdout).toContain('interrupted');
    const asked = await run(['jobs', '--state', 'interrupted', '--json'], 'cut');
    expect(JSON.parse(asked.stdout), asked.stderr).toMatchObject([
      { jobId: job?.jobId, state: 'interrupted' },
    ]);
    const others = await run(['jobs', '--state', 'interrupted', '--json']);
    expect(JSON.parse(others.stdout), others.stderr).toEqual([]);
  }, 120_000);

  it('pauses on Ctrl-C, keeps what is finished, and resumes to the end', async () => {
    const child = start(
      [
        'rollout',
        '--model',
        'scripted:random',
        '--tasks',
        '100',
        '--max-steps',
        '50',
        '--parallel',
        '2',
        '--environment',
        'household',
        '--json',
      ],
      'paused',
    );
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    while (!/ [1-9]\d*\/100 episodes/.test(stderr)) await once(child.stderr ?? child, 'data');
    expect(await stop(child), stderr).toBe(130);
    const { stdout } = await run(['jobs', '--json'], 'paused');
    const [job] = JSON.parse(stdout) as { jobId: string; state: string }[];
    expect(job?.state).toBe('paused');
    const before = JSON.parse((await run(['episodes', '--json', '--limit', '1'], 'paused')).stdout) as {
      total: number;
    };
    const resumed = await run(['jobs', 'resume', job?.jobId ?? '', '--json'], 'paused');
    expect(resumed.code, resumed.stderr).toBe(0);
    const ended = JSON.parse(resumed.stdout) as { state: string; result: { episodes: number } };
    expect(ended).toMatchObject({ state: 'succeeded', result: { episodes: 100 } });
    expect(before.total).toBeGreaterThan(0);
  }, 120_000);
});
