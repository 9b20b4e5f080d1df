/**
 * Hugging Face's `datasets` reads the exported folder by its card. It is installed with pip into `.cache`, and the test is skipped,
 * with the reason, where that is not possible.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { earlyExperienceRunSchema } from '#shared/schema/run.ts';
import { fakeModel, openLab, soundReflection } from '#test/helpers/methods.ts';

const run = promisify(execFile);
const venv = path.resolve('.cache/datasets-venv');
const python = path.join(venv, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

/** The interpreter that has the package, or why there is none. */
async function findPython(): Promise<{ python: string } | { missing: string }> {
  try {
    if (!existsSync(python)) await run('python3', ['-m', 'venv', venv]);
    const has = await run(python, ['-c', 'import datasets']).then(
      () => true,
      () => false,
    );
    if (!has) await run(python, ['-m', 'pip', 'install', '--quiet', 'datasets'], { timeout: 900_000 });
    return { python };
  } catch (thrown) {
    return { missing: thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown) };
  }
}

const script = `
import json, sys
from datasets import load_dataset
folder = sys.argv[1]
facts = {}
for part in ["expert_sft", "iwm_sft", "reflection_sft"]:
    rows = load_dataset(folder, part, split="train", cache_dir=folder + "-cache")
    facts[part] = {"rows": len(rows), "columns": sorted(rows.column_names), "last": rows[-1]["messages"][-1]}
print(json.dumps(facts))
`;

test('load_dataset(folder, part) reads every part of an exported folder', async (context) => {
  const found = await findPython();
  if ('missing' in found) {
    console.warn(`skipped: Hugging Face datasets cannot be installed here (${found.missing})`);
    context.skip();
    return;
  }
  const model = fakeModel((request) => {
    const last = request.messages.at(-1)?.content ?? '';
    const actions = last
      .split('Admissible actions:\n')[1]
      ?.split('\n')
      .map((line) => line.slice(2));
    if (actions === undefined) return soundReflection(request);
    return `<action>${actions[last.length % actions.length] ?? ''}</action>`;
  });
  const lab = openLab({ model });
  try {
    const spec = earlyExperienceRunSchema.parse({
      kind: 'early-experience',
      environment: { id: 'household-small', tasks: 3 },
      policy: { model: 'fake' },
    });
    const job = await lab.run('early-experience', spec);
    expect(job.error).toBeNull();
    const { folder, files } = (
      job.result as unknown as {
        export: { folder: string; files: { part: string; rows: number }[] };
      }
    ).export;
    const { stdout } = await run(found.python, ['-c', script, folder], {
      timeout: 300_000,
      env: { ...process.env, HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1' },
    });
    const facts = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<
      string,
      { rows: number; columns: string[]; last: { role: string; content: string } }
    >;
    for (const { part, rows } of files) {
      expect(facts[part]).toMatchObject({
        rows,
        columns: ['id', 'messages', 'meta'],
        last: { role: 'assistant' },
      });
    }
    expect(facts['iwm_sft']?.last.content).toMatch(/^Observation: \S/u);
    expect(facts['reflection_sft']?.last.content).toMatch(/^<think>.+<\/think><action>.+<\/action>$/u);
  } finally {
    await lab.close();
  }
});
